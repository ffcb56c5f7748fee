#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod abort;
mod adapter;
mod inputs;
mod life;
mod listeners;
mod outline;
mod record;
mod replay;
mod report;
mod script;
mod tool;
mod tool_listeners;

pub use replay::{ReplayError, replay};
pub use report::{Difference, Report};
