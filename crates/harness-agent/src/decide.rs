//! Running an event whose listeners decide.
use harness_kernel::{Around, Ctx, contain};

use crate::error::{AgentError, ListenerError};

/// Runs an event whose listeners decide.
///
/// # Errors
/// [`AgentError::Listener`] if one of them fails or panics: nothing is decided by accident.
pub async fn decide<E, T>(ctx: &Ctx, event: E, default: fn(E) -> T) -> Result<T, AgentError>
where
    E: Around<Output = Result<T, ListenerError>>,
    T: Send + 'static,
{
    match contain(ctx.waterfall(event, move |event| async move { Ok(default(event)) })).await {
        Ok(Ok(decision)) => Ok(decision),
        Ok(Err(error)) => Err(AgentError::listener(E::NAME, error)),
        Err(panic) => Err(AgentError::listener(E::NAME, panic)),
    }
}
