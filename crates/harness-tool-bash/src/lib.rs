#![doc = include_str!("../README.md")]

mod plugin;
mod render;
mod tool;

pub use plugin::ToolBash;
pub use tool::{Bash, BashInput, BashOutput};
