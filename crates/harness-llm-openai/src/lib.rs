#![doc = include_str!("../README.md")]

mod plugin;

pub use plugin::{LlmOpenAi, OpenAiRoute, WireFormat, adapter};
