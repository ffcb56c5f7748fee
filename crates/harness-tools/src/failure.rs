//! Why a tool call failed.
use std::borrow::Cow;
use std::fmt;

use harness_llm::Block;
use harness_session::ToolError;

/// Most bytes of arguments that a message to the model quotes.
const QUOTE: usize = 200;

/// A stable word for a failure. Open: a tool's own code passes through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailureCode(Cow<'static, str>);

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl ToolFailureCode { $($(#[$doc])* pub const $name: Self = Self(Cow::Borrowed(stringify!($name)));)* }
    };
}
codes! {
    /// No tool of this name is visible.
    UNKNOWN_TOOL;
    /// The arguments are not a JSON object or do not fit the tool's schema.
    INVALID_ARGS;
    /// The tool's value does not fit what it declares.
    INVALID_TOOL_OUTPUT;
    /// A policy said no.
    DENIED;
    /// A guard said no.
    GUARD_DENIED;
    /// The result was withheld by a policy after the tool ran.
    BLOCKED;
    /// A listener of a phase failed.
    LISTENER_FAILED;
    /// The tool panicked.
    TOOL_PANICKED;
    /// The call was cancelled after its body started.
    ABORTED;
    /// The call was cancelled before its body started.
    ABORTED_BEFORE_DISPATCH;
    /// The call ran into its time limit.
    TOOL_TIMEOUT;
    /// The session could not be saved, so the body was not started.
    NOT_DURABLE;
    /// The reply that asked for the call was cut at the output limit.
    OUTPUT_LIMIT;
    /// The process ended before the call started.
    TOOL_NOT_STARTED;
    /// The process ended while the call ran.
    TOOL_OUTCOME_UNKNOWN;
}
impl ToolFailureCode {
    /// A tool's own code.
    pub fn other(code: impl Into<String>) -> Self {
        Self(Cow::Owned(code.into()))
    }
    /// The word itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
impl fmt::Display for ToolFailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A failed call: what the model is told and how programs tell it apart.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message} [{code}]")]
pub struct ToolFailure {
    /// For programs.
    pub code: ToolFailureCode,
    /// For the model and for people: what happened and what to do.
    pub message: String,
    /// What the model is shown in place of `Error: <message>`, for a failure that has output.
    pub content: Vec<Block>,
    /// Facts for displays.
    pub meta: Option<Box<serde_json::Value>>,
}
impl ToolFailure {
    /// A failure that is shown as `Error: <message>`.
    pub fn new(code: ToolFailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), content: Vec::new(), meta: None }
    }
    /// A call of a reply that was cut at the output limit, so that it was not run.
    pub fn cut_off(arguments: &str) -> Self {
        let text = format!(
            "the reply was cut off at the output limit, so this call was not run; its arguments ended after {} bytes: \
             {}. Make the call again with less content, or in several parts",
            arguments.len(),
            &arguments[..arguments.floor_char_boundary(QUOTE.min(arguments.len()))],
        );
        Self::new(ToolFailureCode::OUTPUT_LIMIT, text)
    }
    /// A call that a failed turn left without a result; `started` says whether its body may have run.
    pub fn unanswered(started: bool) -> Self {
        if started {
            let text =
                "the turn failed while this call ran; its outcome is unknown: check before trying again";
            Self::new(ToolFailureCode::TOOL_OUTCOME_UNKNOWN, text)
        } else {
            Self::new(ToolFailureCode::TOOL_NOT_STARTED, "the turn ended before this call was started")
        }
    }
    /// Shows this in place of the message.
    #[must_use]
    pub fn showing(mut self, content: Vec<Block>) -> Self {
        self.content = content;
        self
    }
    /// Adds facts for displays.
    #[must_use]
    pub fn with_meta(mut self, meta: serde_json::Value) -> Self {
        self.meta = Some(Box::new(meta));
        self
    }
    /// What the model is shown.
    pub fn rendered(&self) -> Vec<Block> {
        if self.content.is_empty() {
            vec![Block::text(format!("Error: {}", self.message))]
        } else {
            self.content.clone()
        }
    }
    /// Its identity in the log.
    pub fn identity(&self) -> ToolError {
        ToolError { code: self.code.as_str().to_owned(), message: self.message.clone() }
    }
}

/// A phase that failed. `consequence` says what that means for the tool.
pub(crate) fn listener_failed(event: &str, consequence: &str, detail: &str) -> ToolFailure {
    let text = format!("a listener of {event} failed, so {consequence}: {detail}");
    ToolFailure::new(ToolFailureCode::LISTENER_FAILED, text)
}
