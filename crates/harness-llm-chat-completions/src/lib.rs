#![doc = include_str!("../README.md")]

mod compat;
#[cfg(feature = "conformance")]
mod conformance;
mod decode;
mod encode;
mod protocol;

pub use compat::{Compat, EffortForm, EmptyContent, MaxTokensField, ReasoningReplay};
#[cfg(feature = "conformance")]
pub use conformance::chat_completions;
pub use decode::StreamDecoder;
pub use encode::Encoder;
pub use protocol::ChatCompletions;
