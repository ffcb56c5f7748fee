//! One registration and how it is undone.
use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use tokio::task::JoinHandle;

use crate::BoxFuture;
use crate::fiber::{Ctx, Fiber};
use crate::listeners::Position;
use crate::panic::{contain, contain_sync};
use crate::service::Provided;
use crate::teardown::CleanupFailure;

/// What a fiber owes for one registration.
pub(crate) enum Undo {
    Listener(Position),
    Service(Arc<Provided>),
    Cleanup(Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>),
    Child(Ctx),
}

/// Ends one registration early. Dropping it does nothing: the context still owns the registration.
#[derive(Clone, Default)]
pub struct Handle {
    fiber: Weak<Fiber>,
    id: u64,
}

impl Handle {
    pub(crate) fn new(ctx: &Ctx, id: u64) -> Self {
        Self { fiber: Arc::downgrade(ctx.fiber()), id }
    }
    /// The registration came too late and was undone on the spot.
    pub(crate) fn is_inert(&self) -> bool {
        self.fiber.strong_count() == 0
    }
    /// Undoes the registration; later calls do nothing.
    ///
    /// A listener, or a service that no plugin depends on, is gone when this returns. Else the dependents
    /// are disposed first, in a task of its own: [`Handle::dispose_and_wait`] waits for it.
    pub fn dispose(&self) {
        self.begin();
    }
    /// Undoes the registration and waits until it is gone, dependents first.
    pub async fn dispose_and_wait(&self) {
        if let Some(task) = self.begin() {
            task.await.ok(); // fails only when the runtime stops, and nothing is left to wait for then
        }
    }
    fn begin(&self) -> Option<JoinHandle<()>> {
        let fiber = self.fiber.upgrade()?;
        let undo = fiber.take(self.id)?;
        Ctx::of(fiber).undo_now(undo)
    }
}
impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Ctx {
    /// Registers what undoes a registration. On a closed fiber that happens on the spot.
    pub(crate) fn own(&self, undo: Undo) -> Handle {
        let id = self.fresh_id();
        match self.fiber().push(id, undo) {
            None => Handle::new(self, id),
            Some(late) => {
                self.undo_now(late);
                Handle::default()
            }
        }
    }
    /// At once where nothing has to be awaited, else in a task.
    fn undo_now(&self, undo: Undo) -> Option<JoinHandle<()>> {
        let at_once = match &undo {
            Undo::Listener(_) => true,
            Undo::Service(provided) => provided.retire().is_empty(),
            Undo::Cleanup(_) | Undo::Child(_) => false,
        };
        let ctx = self.clone();
        let work = async move { drop(ctx.undo(undo).await) }; // each failure is reported where it happens
        if at_once {
            work.now_or_never();
            return None;
        }
        Some(self.spawn_owned(work))
    }
    /// Undoes one registration. A panic is reported, and the caller goes on.
    pub(crate) async fn undo(&self, undo: Undo) -> Vec<CleanupFailure> {
        let scope = self.scope_node();
        let (failures, outcome) = match undo {
            Undo::Listener(position) => (vec![], contain_sync(|| drop(scope.listeners.remove(position)))),
            Undo::Cleanup(cleanup) => (vec![], contain(async move { cleanup().await }).await),
            Undo::Child(child) => (child.ended().await, Ok(())),
            Undo::Service(provided) => {
                let mut failures = Vec::new();
                for dependent in provided.retire() {
                    failures.extend(Ctx::of(dependent).ended().await);
                }
                scope.services.remove(&provided);
                (failures, contain_sync(|| drop(provided)))
            }
        };
        let panicked = outcome.err().map(|panic| {
            self.report(&panic, "a cleanup panicked");
            CleanupFailure { context: self.name().to_owned(), panic }
        });
        failures.into_iter().chain(panicked).collect()
    }
}
