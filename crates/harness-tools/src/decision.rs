//! What listeners may decide. Each phase has one kind of authority, and its type has nothing else.
use harness_kernel::Panic;
use harness_llm::{Block, Message};

/// A listener could not decide. The call ends with a final error; nothing is allowed by accident.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ListenerError(pub String);
impl ListenerError {
    /// An error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
impl From<Panic> for ListenerError {
    fn from(panic: Panic) -> Self {
        Self(panic.to_string())
    }
}

/// Decision of `tools/pre-execute`. It cannot change the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreToolDecision {
    /// Go on to the guards.
    Allow,
    /// The body does not run.
    Deny {
        /// Told to the model.
        reason: String,
    },
    /// Ask whoever answers approvals; only "allowed once" goes on.
    Ask {
        /// Told to the person.
        reason: Option<String>,
    },
}
impl PreToolDecision {
    /// A denial.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny { reason: reason.into() }
    }
}

/// Decision of `tools/post-execute`. Contexts become messages after all results of the batch.
#[derive(Debug, Clone, PartialEq)]
pub enum PostToolDecision {
    /// Keep the result.
    Accept {
        /// Messages to add.
        contexts: Vec<Message>,
    },
    /// Keep the value, show other content. Presentation, not confidentiality.
    AcceptContent {
        /// What the model is shown.
        content: Vec<Block>,
        /// Messages to add.
        contexts: Vec<Message>,
    },
    /// Replace the value: it is validated against the tool's output type and rendered again. A call that failed
    /// succeeds with it; a call that was denied stays an error, as no listener can undo a denial.
    AcceptValue {
        /// The new value.
        value: serde_json::Value,
        /// Messages to add.
        contexts: Vec<Message>,
    },
    /// Withhold the result: the model gets the feedback as an error, and contexts that the tool deferred are dropped.
    Block {
        /// Told to the model.
        feedback: String,
        /// Messages to add.
        contexts: Vec<Message>,
    },
}
impl PostToolDecision {
    /// Keep the result as it is.
    pub fn accept() -> Self {
        Self::Accept { contexts: Vec::new() }
    }
}
