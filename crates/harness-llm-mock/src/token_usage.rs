//! The token counts that a reply reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

    /// The `usage` object of the wire format.
    pub(crate) fn to_wire(self) -> Value {
        let mut usage = json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens.saturating_add(self.completion_tokens),
        });
        if let Some(cached) = self.cached_tokens {
            usage["prompt_tokens_details"] = json!({ "cached_tokens": cached });
        }
        if let Some(reasoning) = self.reasoning_tokens {
            usage["completion_tokens_details"] = json!({ "reasoning_tokens": reasoning });
        }
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_present_only_if_scripted() {
        let plain = TokenUsage::estimated(5, 4).to_wire();
        assert_eq!(plain, json!({ "prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3 }));
        let detailed =
            TokenUsage { cached_tokens: Some(1), reasoning_tokens: Some(2), ..TokenUsage::default() };
        assert_eq!(detailed.to_wire()["prompt_tokens_details"]["cached_tokens"], 1);
        assert_eq!(detailed.to_wire()["completion_tokens_details"]["reasoning_tokens"], 2);
    }
}
