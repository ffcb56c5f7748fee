#![doc = include_str!("../README.md")]

mod decode;
mod encode;
mod plugin;
mod protocol;
mod rules;
mod thinking;

pub use decode::StreamDecoder;
pub use encode::Encoder;
pub use plugin::{AnthropicRoute, LlmAnthropic, adapter};
pub use protocol::Messages;
