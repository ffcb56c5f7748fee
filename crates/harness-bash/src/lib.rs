#![doc = include_str!("../README.md")]

#[cfg(feature = "contract")]
pub mod contract;
mod error;
mod executor;
mod request;
mod result;
mod setup;

pub use error::BashError;
pub use executor::{BashExecutor, BashInfo};
pub use request::RunRequest;
pub use result::{RunOutput, RunResult, Shell, ShellKind, SpilledOutput};
pub use setup::SetupFiles;
