#![doc = include_str!("../README.md")]

mod config;
mod environment;
mod executor;
mod limits;
mod plugin;
mod secret_name;
mod shell;

pub use config::BashLocalConfig;
pub use executor::LocalBash;
pub use limits::{BashLimits, InvalidLimits};
pub use plugin::BashLocal;
