//! What can go wrong with an agent.
use harness_kernel::Panic;
use harness_session::{AppendError, SessionId, SessionsError};

/// A listener could not decide: the turn ends with an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ListenerError(pub String);
impl From<Panic> for ListenerError {
    fn from(panic: Panic) -> Self {
        Self(panic.to_string())
    }
}

/// Why an operation on an agent failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The agent is disposed.
    #[error("agent {0} is gone")]
    Disposed(SessionId),
    /// Its session could not become live.
    #[error(transparent)]
    Session(#[from] SessionsError),
    /// The session refused an event.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The message is not in the inbox.
    #[error("message {0} is not pending")]
    NotPending(harness_llm::MessageId),
    /// The message is in the inbox already.
    #[error("message {0} is already pending")]
    AlreadyPending(harness_llm::MessageId),
    /// A listener of an event that decides failed or panicked.
    #[error("a listener of {event} failed: {detail}")]
    Listener {
        /// The event.
        event: &'static str,
        /// What it said.
        detail: String,
    },
    /// An edit of the history is not legal.
    #[error("an edit of agent/context was refused: {0}")]
    ContextEdit(&'static str),
    /// Setting the agent up failed.
    #[error("the agent could not be set up: {0}")]
    Setup(String),
}
impl AgentError {
    /// A listener of an event failed or panicked.
    pub fn listener(event: &'static str, error: impl std::fmt::Display) -> Self {
        Self::Listener { event, detail: error.to_string() }
    }
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Disposed(_) => "AGENT_DISPOSED",
            Self::Session(_) => "AGENT_SESSION",
            Self::Append(error) => error.code(),
            Self::NotPending(_) => "AGENT_NOT_PENDING",
            Self::AlreadyPending(_) => "AGENT_ALREADY_PENDING",
            Self::Listener { .. } => "LISTENER_FAILED",
            Self::ContextEdit(_) => "AGENT_CONTEXT_EDIT",
            Self::Setup(_) => "AGENT_SETUP",
        }
    }
}
