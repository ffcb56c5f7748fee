//! How an endpoint departs from the common form of the wire format.
use harness_llm::{FailureCode, LlmError};
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
    /// [`MaxTokensField::for_host`].
    pub max_tokens_field: Option<MaxTokensField>,
    /// Which reasoning goes back to the model with the history.
    pub reasoning_replay: ReasoningReplay,
    /// Send `reasoning_content` with every assistant message that calls tools, even an empty one. Servers that think
    /// by default refuse a history in which it is missing.
    pub reasoning_required: bool,
    /// How an effort word is written.
    pub effort: EffortForm,
    /// The effort words that the server knows. Unset: any is passed on. `off` is always known where it can be said.
    pub efforts: Option<Vec<String>>,
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
            reasoning_required: false,
            effort: EffortForm::ReasoningEffort,
            efforts: None,
            empty_content: EmptyContent::EmptyString,
            stream_options: true,
            done_optional: false,
        }
    }
}

impl Compat {
    /// Looks whether the server knows an effort word.
    ///
    /// # Errors
    /// [`FailureCode::INVALID_REQUEST`] with the words that it knows.
    pub fn check_effort(&self, word: Option<&str>) -> Result<(), LlmError> {
        let (Some(word), Some(known)) = (word, &self.efforts) else { return Ok(()) };
        if word == "off" || known.iter().any(|effort| effort == word) {
            return Ok(());
        }
        let text = format!("reasoning effort `{word}` is not known here; use off, {}", known.join(", "));
        Err(LlmError::new(FailureCode::INVALID_REQUEST, text))
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

impl MaxTokensField {
    /// The name where the settings leave it open: OpenAI's own hosts demand `max_completion_tokens`, which many other
    /// servers do not know.
    pub fn for_host(host: &str) -> Self {
        let is_openai = ["openai.com", "openai.azure.com"].iter().any(|domain| {
            host == *domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
        });
        if is_openai { Self::MaxCompletionTokens } else { Self::MaxTokens }
    }
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

/// How an effort word is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EffortForm {
    /// `"reasoning_effort": "high"`, as OpenAI has it; `off` is `"none"`.
    #[default]
    ReasoningEffort,
    /// `"thinking": {"type": "enabled"}` beside `reasoning_effort`, as DeepSeek has it; `off` is
    /// `{"type": "disabled"}`.
    Thinking,
    /// `"reasoning": {"effort": "high"}`, as `OpenRouter` has it; `off` is `{"enabled": false}`.
    Reasoning,
    /// `"chat_template_kwargs": {"enable_thinking": true}`, as vLLM, `SGLang` and the llama.cpp server have it for
    /// models whose template knows the switch. Every word but `off` is on.
    EnableThinking,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_field_follows_the_host() {
        for (host, field) in [
            ("api.openai.com", MaxTokensField::MaxCompletionTokens),
            ("mine.openai.azure.com", MaxTokensField::MaxCompletionTokens),
            ("notopenai.com", MaxTokensField::MaxTokens),
            ("127.0.0.1", MaxTokensField::MaxTokens),
        ] {
            assert_eq!(MaxTokensField::for_host(host), field, "{host}");
        }
    }
}
