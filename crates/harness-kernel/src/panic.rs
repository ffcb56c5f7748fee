//! The one place where a panic becomes a value.
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use futures_util::FutureExt;

/// A panic that was caught at an edge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("panicked: {message}")]
pub struct Panic {
    /// What the code said when it panicked, or a note that it said nothing readable.
    pub message: String,
}
impl Panic {
    fn new(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self { message: text.unwrap_or("without a readable message").to_owned() }
    }
    /// The stable code of this error: `panic`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "panic"
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

/// Awaits `future`; a panic inside it becomes a value.
///
/// The future is dropped when it panics. State that it shares with others is as the panic left it.
///
/// # Errors
/// [`Panic`] when the future panicked.
pub async fn contain<F: Future>(future: F) -> Result<F::Output, Panic> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|payload| Panic::new(&*payload))
}

/// Calls `work`; a panic inside it becomes a value.
///
/// # Errors
/// [`Panic`] when the call panicked.
pub fn contain_sync<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Panic::new(&*payload))
}

// A poisoned lock is entered all the same: every table is consistent between two statements of ours.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}
pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
