#![doc = include_str!("../README.md")]

mod plugin;
mod protocol;
mod rules;

pub use plugin::{DeepSeekRoute, LlmDeepSeek, adapter};
