#![doc = include_str!("../README.md")]

mod plugin;

pub use harness_llm_responses::ResponsesCompat;
pub use plugin::{LlmOpenAi, OpenAiRoute, WireFormat, adapter};
