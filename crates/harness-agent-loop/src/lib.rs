#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod agent;
mod close;
mod driver;
mod fault;
mod plugin;
mod step;
mod stream;
mod tools;
mod turn;

pub use plugin::AgentLoop;
