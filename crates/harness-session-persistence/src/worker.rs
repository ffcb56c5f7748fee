//! The task that owns a session's writer: one write in flight, ever.
use std::sync::Arc;
use std::sync::atomic::Ordering;

use harness_kernel::contain;
use harness_session::{Event, Session};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use crate::error::PersistenceError;
use crate::notice::{StorageFailed, StorageRecovered};
use crate::recorder::{RecorderOptions, Shared};
use crate::writer::{Durability, SessionWriter};

pub(crate) type Outcome = Result<(), Arc<PersistenceError>>;

/// A barrier that somebody waits for.
pub(crate) struct Barrier {
    pub(crate) reply: oneshot::Sender<Outcome>,
    /// Whether the recorder ends with it.
    pub(crate) last: bool,
}

pub(crate) struct Worker {
    pub(crate) session: Arc<Session>,
    pub(crate) writer: Box<dyn SessionWriter>,
    pub(crate) options: RecorderOptions,
    pub(crate) shared: Arc<Shared>,
    pub(crate) barriers: mpsc::UnboundedReceiver<Barrier>,
}

impl Worker {
    /// Works until its last barrier, or until nobody is left to ask for one.
    pub(crate) async fn run(self) {
        let told =
            Told { session: Arc::clone(&self.session), shared: Arc::clone(&self.shared), trouble: None };
        let (session, shared) = (Arc::clone(&self.session), Arc::clone(&self.shared));
        if let Err(panic) = contain(self.serve(told)).await {
            let detail = format!("its storage {panic}");
            let error = Arc::new(PersistenceError::Closed { id: session.id(), detail });
            Told { session, shared, trouble: None }.failed(&error);
        }
    }

    async fn serve(mut self, mut told: Told) {
        let last = self.until_last(&mut told).await;
        let mut outcome = self.write(self.options.durability, &mut told).await;
        if let Err(error) = self.writer.close().await {
            let error = Arc::new(error);
            told.failed(&error);
            outcome = outcome.and(Err(error));
        }
        answer(last, &outcome);
    }

    /// Writes when a window ends or a barrier asks, until the barriers that end it.
    async fn until_last(&mut self, told: &mut Told) -> Vec<Barrier> {
        loop {
            let mut waiting = Vec::new();
            let due = self.shared.waiting_since().map(|since| since + self.options.window);
            tokio::select! {
                biased;
                asked = self.barriers.recv_many(&mut waiting, usize::MAX) => {
                    if asked == 0 || waiting.iter().any(|barrier| barrier.last) {
                        return waiting;
                    }
                    let outcome = self.write(self.options.durability, told).await;
                    answer(waiting, &outcome);
                }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    // A failure was told, and its events stay in the log: the next event or barrier tries again.
                    self.write(Durability::Write, told).await.ok();
                }
                () = self.shared.woken.notified() => {}
            }
        }
    }

    /// Hands over all that the writer does not have yet.
    async fn write(&mut self, durability: Durability, told: &mut Told) -> Outcome {
        self.shared.take_window();
        let view = self.session.view();
        let batch: Vec<Arc<Event>> = view.iter_from(self.writer.next_seq()).collect();
        let safe_enough = durability < self.options.durability || self.shared.safe() >= view.len();
        if batch.is_empty() && safe_enough {
            return Ok(());
        }
        match self.writer.append(&batch, durability).await {
            Ok(()) => {
                if durability >= self.options.durability {
                    self.shared.safe.store(self.writer.next_seq(), Ordering::Release);
                }
                told.recovered();
                Ok(())
            }
            Err(error) => {
                let error = Arc::new(error);
                told.failed(&error);
                Err(error)
            }
        }
    }
}

fn answer(waiting: Vec<Barrier>, outcome: &Outcome) {
    for barrier in waiting {
        barrier.reply.send(outcome.clone()).ok(); // the caller may have gone meanwhile
    }
}

/// Tells each trouble once, until it is over.
struct Told {
    session: Arc<Session>,
    shared: Arc<Shared>,
    trouble: Option<String>,
}
impl Told {
    fn failed(&mut self, error: &Arc<PersistenceError>) {
        let text = error.to_string();
        if self.trouble.as_ref() == Some(&text) {
            return;
        }
        let (session, waiting) =
            (self.session.id(), self.session.view().len().saturating_sub(self.shared.safe()));
        tracing::error!(%session, waiting, error = text, "the session could not be stored");
        self.trouble = Some(text);
        self.session.ctx().emit(&StorageFailed { session, error: Arc::clone(error), waiting });
    }
    fn recovered(&mut self) {
        if self.trouble.take().is_some() {
            let session = self.session.id();
            tracing::info!(%session, "the session is stored again");
            self.session.ctx().emit(&StorageRecovered { session });
        }
    }
}
