//! The one place where a panic becomes a value.
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;

/// A panic that was caught at an edge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {message}")]
pub struct Panic {
    /// What the code said when it panicked, or a note that it said nothing readable.
    pub message: String,
}
impl From<Box<dyn Any + Send>> for Panic {
    fn from(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self { message: text.unwrap_or("without a readable message").to_owned() }
    }
}
/// How one [`Parallel`](crate::Parallel) listener failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListenerFailure<T> {
    /// The listener returned its own error.
    #[error("{0}")]
    Failed(T),
    /// The listener panicked.
    #[error(transparent)]
    Panicked(Panic),
}
/// Awaits `future`; a panic drops it and becomes a value. What it shares with others is as the panic left it.
pub async fn contain<F: Future>(future: F) -> Result<F::Output, Panic> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(Panic::from)
}
/// Calls `work`; a panic becomes a value.
pub fn contain_sync<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(work)).map_err(Panic::from)
}
/// Enters a poisoned lock all the same: no user code runs under ours, so what they guard is consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
