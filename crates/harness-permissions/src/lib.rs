#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod plugin;
mod rule;

pub use plugin::{Permissions, PermissionsConfig};
pub use rule::{Rule, RuleError};
