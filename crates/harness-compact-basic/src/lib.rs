#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod config;
mod cut;
mod engine;
mod frame;
mod overflow;
mod plugin;
mod pressure;
mod prune;
mod summary;
mod transaction;

pub use config::{CompactConfig, CompactConfigError};
pub use plugin::CompactBasic;
pub use summary::INSTRUCTION;
