//! Why a turn stops early.
use std::fmt::Display;

use harness_agent::AgentError;
pub(crate) use harness_agent::decide;
use harness_llm::{Failure, FailureCode, LlmError};
use harness_session::AppendError;

/// A turn that cannot go on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// Its token was cancelled; the control knows the cause.
    Aborted,
    /// Something failed.
    Failed(Failure),
}

impl Fault {
    pub(crate) fn new(code: &'static str, error: impl Display) -> Self {
        Self::Failed(Failure::new(FailureCode::other(code), error.to_string()))
    }
}
impl From<AppendError> for Fault {
    fn from(error: AppendError) -> Self {
        Self::new(error.code(), &error)
    }
}
impl From<AgentError> for Fault {
    fn from(error: AgentError) -> Self {
        Self::new(error.code(), &error)
    }
}
impl From<LlmError> for Fault {
    fn from(error: LlmError) -> Self {
        Self::Failed(error.0)
    }
}
