//! The token counts that a reply reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a reply says about tokens, in a last chunk whose `choices` are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenReport {
    /// Four bytes count as one token, rounded up: the request's body for the prompt; text,
    /// reasoning and tool arguments for the completion.
    #[default]
    Estimated,
    /// No usage chunk at all.
    Omitted,
    /// Exactly these counts.
    Exact(TokenUsage),
}

/// Token counts under the names of the wire format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenUsage {
    /// Tokens of the request, cached ones included.
    pub prompt_tokens: u64,
    /// Tokens of the reply, reasoning included.
    pub completion_tokens: u64,
    /// Tokens of the prompt that came from a cache; left out on the wire if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the completion that were reasoning; left out on the wire if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

impl TokenUsage {
    pub(crate) fn estimated(prompt_bytes: usize, completion_bytes: usize) -> Self {
        let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
        Self {
            prompt_tokens: tokens(prompt_bytes),
            completion_tokens: tokens(completion_bytes),
            ..Self::default()
        }
    }
}
