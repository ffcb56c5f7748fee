//! What a finish reason means for what was streamed.
use harness_llm::{Failure, FailureCode, FinishReason};

use harness_llm_http::bounded;

/// The finish reason of an answer that hit the output limit.
pub(super) const LENGTH: &str = "length";
/// Most characters of an unknown reason that become a code.
const LONGEST_CODE: usize = 64;

/// What had been streamed by the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) has_calls: bool,
    pub(super) has_blocks: bool,
    pub(super) has_nameless: bool,
}

/// The end of a complete stream. Servers disagree on the word beside tool calls, so that the calls decide between
/// `stop` and `tool_calls`.
pub(super) fn reason(word: &str, outcome: Outcome) -> Result<FinishReason, Failure> {
    match word {
        "stop" | "tool_calls" | "function_call" if outcome.has_nameless => {
            let text = "the model server sent a tool call without a name";
            Err(Failure::new(FailureCode::MALFORMED_RESPONSE, text))
        }
        "stop" | "tool_calls" | "function_call" if !outcome.has_blocks => {
            let text = "the model stopped without saying anything";
            Err(Failure::new(FailureCode::EMPTY_RESPONSE, text))
        }
        "stop" | "tool_calls" | "function_call" if outcome.has_calls => Ok(FinishReason::ToolCalls),
        "stop" | "tool_calls" | "function_call" => Ok(FinishReason::Stop),
        LENGTH => Ok(FinishReason::MaxTokens),
        "content_filter" => {
            let text = "the provider's content filter withheld the answer or cut it off";
            Err(Failure::new(FailureCode::CONTENT_FILTER, text))
        }
        other => {
            let word = bounded(other, LONGEST_CODE);
            let text = format!("the model stopped for a reason that is not known here: `{word}`");
            Err(Failure::new(FailureCode::other(word.to_uppercase()), text))
        }
    }
}
