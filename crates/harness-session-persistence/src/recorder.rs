//! Write-behind: a live session's events go to its writer without the session ever waiting.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use harness_session::{FlushError, Seq, Session, SessionEvent, SessionFlush, SessionId};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use crate::error::PersistenceError;
use crate::worker::{Barrier, Outcome, Worker};
use crate::writer::{Durability, SessionWriter};

/// How a session is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecorderOptions {
    /// What a barrier waits for.
    pub durability: Durability,
    /// How long an event may wait before it is written. Counted from the first waiting event; later ones do not
    /// prolong it.
    pub window: Duration,
}
impl Default for RecorderOptions {
    fn default() -> Self {
        Self { durability: Durability::Sync, window: Duration::from_millis(200) }
    }
}

/// What the observer, the barriers and the worker share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// When the first event that waits was committed.
    waiting_since: Mutex<Option<Instant>>,
    pub(crate) woken: Notify,
    /// How many leading events are as safe as a barrier asks.
    pub(crate) safe: AtomicU64,
}
impl Shared {
    /// Called for each event, so it must stay cheap: only the first one of a window wakes the worker.
    fn committed(&self) {
        let mut since = self.waiting_since.lock().unwrap_or_else(PoisonError::into_inner);
        if since.is_none() {
            *since = Some(Instant::now());
            self.woken.notify_one();
        }
    }
    pub(crate) fn waiting_since(&self) -> Option<Instant> {
        *self.waiting_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Taken before the log is read: an event that comes later opens the next window.
    pub(crate) fn take_window(&self) {
        *self.waiting_since.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
    pub(crate) fn safe(&self) -> Seq {
        self.safe.load(Ordering::Acquire)
    }
}

/// Keeps one session's storage up with its log. Clones are the same recorder.
///
/// The log in memory is the queue: the recorder only knows how far its writer got, so that nothing can be lost or
/// written twice, whatever fails. Events are written within [`RecorderOptions::window`], one write at a time, and
/// at once by a barrier (`session/flush`). After a failure it waits for the next event or barrier.
/// Trouble is told as [`StorageFailed`](crate::StorageFailed) in the session's context.
#[derive(Clone)]
pub struct Recorder {
    id: SessionId,
    session: Weak<Session>,
    shared: Arc<Shared>,
    barriers: mpsc::UnboundedSender<Barrier>,
}

impl Recorder {
    /// Starts to record: all that the writer does not have yet, and everything to come. Ends with the session's
    /// context, after a last barrier. Must be called inside a tokio runtime, before the first event that matters:
    /// cleanups registered later on the same context may still append.
    ///
    /// Fails if the writer is ahead of the session, which then is not the one that it writes.
    pub fn attach(
        session: &Arc<Session>,
        writer: Box<dyn SessionWriter>,
        options: RecorderOptions,
    ) -> Result<Self, PersistenceError> {
        let (id, ctx, len) = (session.id(), session.ctx(), session.view().len());
        if writer.next_seq() > len {
            return Err(PersistenceError::Sequence { expected: writer.next_seq(), got: len });
        }
        let (asking, barriers) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared { safe: AtomicU64::new(writer.next_seq()), ..Shared::default() });
        let recorder = Self { id, session: Arc::downgrade(session), shared, barriers: asking };

        let shared = Arc::clone(&recorder.shared);
        ctx.on::<SessionEvent>(move |event| {
            if event.session == id {
                shared.committed();
            }
        });
        let barrier = recorder.clone();
        ctx.on_parallel::<SessionFlush, _>(move |flush| {
            let barrier = barrier.clone();
            async move {
                if flush.session != id {
                    return Ok(());
                }
                barrier.flush().await.map_err(|error| FlushError(error.to_string()))
            }
        });
        let last = recorder.clone();
        ctx.on_dispose(move || async move {
            // Its failure was told as an event by the worker; nobody is left to return it to.
            last.close().await.ok();
        });
        if writer.next_seq() < len {
            recorder.shared.committed();
        }
        let (session, shared) = (Arc::clone(session), Arc::clone(&recorder.shared));
        let worker = Worker { session, writer, options, shared, barriers };
        tokio::spawn(worker.run());
        Ok(recorder)
    }

    /// A barrier: everything committed by now is as safe as [`RecorderOptions::durability`] asks when this returns
    /// without an error. Callers that wait at the same time share one.
    pub async fn flush(&self) -> Result<(), Arc<PersistenceError>> {
        self.barrier(false).await
    }
    /// A last barrier, then gives the lease back. What is appended later is not stored, and barriers say so.
    pub async fn close(&self) -> Result<(), Arc<PersistenceError>> {
        self.barrier(true).await
    }
    /// How many leading events are known to be as safe as a barrier asks.
    pub fn safe(&self) -> Seq {
        self.shared.safe()
    }

    async fn barrier(&self, last: bool) -> Outcome {
        let (reply, outcome) = oneshot::channel();
        if self.barriers.send(Barrier { reply, last }).is_ok()
            && let Ok(outcome) = outcome.await
        {
            return outcome;
        }
        // The recorder has ended.
        let (safe, len) = (self.safe(), self.session.upgrade().map_or(0, |session| session.view().len()));
        if safe >= len {
            return Ok(());
        }
        let detail = format!("events from {safe} on are not stored");
        Err(Arc::new(PersistenceError::Closed { id: self.id, detail }))
    }
}
impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("session", &self.id)
            .field("safe", &self.safe())
            .finish_non_exhaustive()
    }
}
