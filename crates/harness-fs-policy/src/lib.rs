#![doc = include_str!("../README.md")]

mod config;
mod confine;
mod observations;
mod plugin;
mod read_first;

pub use config::{FsPolicyConfig, Outside};
pub use observations::Observations;
pub use plugin::{FsPolicy, FsPolicyError};
