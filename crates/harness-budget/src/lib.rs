#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod config;
mod plugin;

pub use config::{BudgetConfig, BudgetConfigError};
pub use plugin::{Budget, COST};
