#![doc = include_str!("../README.md")]

mod adapter;
mod call;
mod config;
mod extras;
mod fault;
mod plugin;
mod seconds;

pub use adapter::OpenAi;
pub use config::{ModelEntry, OpenAiConfig};
pub use plugin::LlmOpenAi;
