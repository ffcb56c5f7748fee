//! Why a turn stops early.
use std::fmt::Display;

use harness_agent::{AgentError, ListenerError};
use harness_kernel::{Around, Ctx, contain};
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
    /// A listener of an event failed or panicked.
    pub(crate) fn listener(event: &str, error: impl Display) -> Self {
        Self::new("LISTENER_FAILED", format!("a listener of {event} failed: {error}"))
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

/// Runs an event whose listeners decide; one that fails or panics ends the turn.
pub(crate) async fn decide<E, T>(ctx: &Ctx, event: E, default: fn(E) -> T) -> Result<T, Fault>
where
    E: Around<Output = Result<T, ListenerError>>,
    T: Send + 'static,
{
    match contain(ctx.waterfall(event, move |event| async move { Ok(default(event)) })).await {
        Ok(Ok(decision)) => Ok(decision),
        Ok(Err(error)) => Err(Fault::listener(E::NAME, error)),
        Err(panic) => Err(Fault::listener(E::NAME, panic)),
    }
}
