#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod cut;
mod path;
mod plugin;
mod references;
mod validator;
mod violation;

pub use plugin::ToolSchema;
pub use validator::SchemaValidator;
