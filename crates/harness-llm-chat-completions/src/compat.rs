//! How an endpoint departs from the common form of the wire format.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do differently for one endpoint. The default suits most of them.
///
/// It must stay the same for the length of a session: it decides how history is written, and a change would
/// alter the prefix that providers cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compat {
    /// Name of the field that limits the answer. Unset: chosen by the endpoint's host, see
    /// [`Endpoint::max_tokens_field`](crate::Endpoint::max_tokens_field).
    pub max_tokens_field: Option<MaxTokensField>,
    /// Which reasoning goes back to the model with the history.
    pub reasoning_replay: ReasoningReplay,
    /// How an assistant message without text is written.
    pub empty_content: EmptyContent,
    /// Ask for token counts with `stream_options`. Switch off for servers that refuse the field.
    pub stream_options: bool,
    /// Accept the end of the stream after a finish reason when `[DONE]` is missing.
    pub done_optional: bool,
}

impl Default for Compat {
    fn default() -> Self {
        Self {
            max_tokens_field: None,
            reasoning_replay: ReasoningReplay::Never,
            empty_content: EmptyContent::EmptyString,
            stream_options: true,
            done_optional: false,
        }
    }
}

/// Name of the field that limits the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MaxTokensField {
    /// `max_tokens`, which most servers know.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer OpenAI models demand.
    MaxCompletionTokens,
}

/// Which reasoning is sent back as `reasoning_content`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningReplay {
    /// None.
    #[default]
    Never,
    /// That of assistant messages with tool calls, whether their turn is over or not.
    ToolCalls,
    /// All of it.
    Always,
}

/// How an assistant message without text is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmptyContent {
    /// `"content": ""`. Several servers refuse `null`, some of them only turns later.
    #[default]
    EmptyString,
    /// `"content": null` beside tool calls, for servers that refuse an empty text there.
    Null,
}
