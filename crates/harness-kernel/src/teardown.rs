//! Disposal: dependents first, then cancel, drain tasks, undo newest first.
use std::any::TypeId;
use std::sync::{Arc, Weak};

use futures_util::{FutureExt, future::Shared};

use crate::fiber::{Ctx, Fiber, next_id};
use crate::panic::{Panic, contain, contain_sync};
use crate::{BoxFuture, service::Edges};

/// What a fiber owes for one registration.
pub(crate) enum Undo {
    /// A listener or, with those that depend on it, a service.
    Entry((TypeId, i64), Option<Arc<Edges>>),
    Cleanup(Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>),
    Child(Ctx),
}
/// The end of a fiber, awaited by any number of callers.
pub(crate) type Ended = Shared<BoxFuture<'static, Result<(), DisposeError>>>;

tokio::task_local! {
    /// The context that the running task belongs to.
    static CURRENT: Ctx;
}

/// Why a disposal did not end well. The first field is the name of the context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DisposeError {
    /// The disposal would wait for its caller, a task or cleanup that ends with the context. Nothing was done.
    #[error(
        "context {0} cannot be disposed by a task that it waits for; do it from outside or use `dispose_soon`"
    )]
    FromOwnTask(String),
    /// The context is disposed, and all other cleanups ran, but these panicked.
    #[error("context {0} is disposed, but cleanups panicked: {list}", list = .1.iter().map(|panic| &*panic.message).collect::<Vec<_>>().join("; "))]
    Cleanup(String, Vec<Panic>),
    /// The runtime stopped half-way.
    #[error("the runtime stopped before context {0} was disposed; keep it until disposal is done")]
    Aborted(String),
}
impl DisposeError {
    /// A stable code for each variant.
    pub fn code(&self) -> &'static str {
        match self {
            Self::FromOwnTask(_) => "dispose-from-own-task",
            Self::Cleanup(..) => "cleanup-panicked",
            Self::Aborted(_) => "dispose-aborted",
        }
    }
}

/// Ends one registration early. Dropping it does nothing: the context still owns the registration.
#[derive(Debug, Clone, Default)]
pub struct Handle {
    fiber: Weak<Fiber>,
    id: u64,
}
impl Handle {
    /// The registration came too late and was undone on the spot.
    pub(crate) fn is_inert(&self) -> bool {
        self.fiber.strong_count() == 0
    }
    /// Undoes the registration; later calls do nothing. A listener, or a service that no plugin depends on,
    /// is gone when this returns. Else the dependents are disposed first, in a task of the owning context.
    pub fn dispose(&self) {
        if let Some(fiber) = self.fiber.upgrade()
            && let Some(undo) = fiber.take(self.id)
        {
            Ctx(fiber).undo_now(undo);
        }
    }
}

impl Ctx {
    /// Registers what undoes a registration. On a closed context that happens on the spot.
    pub(crate) fn own(&self, undo: Undo) -> Handle {
        let id = next_id();
        let Some(late) = self.0.push(id, undo) else { return Handle { fiber: Arc::downgrade(&self.0), id } };
        self.undo_now(late);
        Handle::default()
    }
    /// At once when nothing has to be awaited, else in a task. Panics are reported where they happen.
    fn undo_now(&self, undo: Undo) {
        let is_free = |edges: &Option<Arc<Edges>>| edges.iter().all(|edges| edges.close().is_empty());
        let at_once = matches!(&undo, Undo::Entry(_, edges) if is_free(edges));
        let ctx = self.clone();
        let work = async move { drop(ctx.undo(undo).await) };
        if at_once {
            work.now_or_never();
        } else {
            self.spawn_owned(work);
        }
    }
    /// A panic is reported and returned, and the rest goes on.
    async fn undo(&self, undo: Undo) -> Vec<Panic> {
        let mut panics = Vec::new();
        let outcome = match undo {
            Undo::Cleanup(cleanup) => contain(async move { cleanup().await }).await,
            Undo::Child(child) => return child.ended().await,
            Undo::Entry(position, edges) => {
                panics = Self::all_ended(edges.iter().flat_map(|edges| edges.close()).collect()).await;
                contain_sync(|| drop(self.0.scope.remove(position)))
            }
        };
        panics.extend(self.failed(outcome));
        panics
    }
    fn failed(&self, outcome: Result<(), Panic>) -> Option<Panic> {
        let panic = outcome.err()?;
        self.report(&panic, "a cleanup panicked");
        Some(Panic { message: format!("in {}: {}", self.name(), panic.message) })
    }
    /// Ends this context and waits for it: plugins that depend on its services are disposed first, then it
    /// is cancelled, its tasks are drained, and its registrations and children are undone newest first.
    ///
    /// Teardown runs in a task of its own: dropping this future does not stop it, and all callers await the
    /// same end. Only [`DisposeError::FromOwnTask`] means that the context is not disposed.
    pub async fn dispose(&self) -> Result<(), DisposeError> {
        if CURRENT.try_with(|current| self.0.ends_with(&current.0)).unwrap_or(false) {
            return Err(DisposeError::FromOwnTask(self.name().to_owned()));
        }
        self.ending().await
    }
    /// Starts the disposal without waiting for it, which a task of this very context may do.
    pub fn dispose_soon(&self) {
        drop(self.ending());
    }
    pub(crate) fn as_current<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(self.clone(), work)
    }
    fn ending(&self) -> Ended {
        let begin = || {
            let (ctx, name) = (self.clone(), self.name().to_owned());
            let task = self.0.kernel.runtime.spawn(self.as_current(async move { ctx.tear_down().await }));
            async move { task.await.unwrap_or(Err(DisposeError::Aborted(name))) }.boxed().shared()
        };
        self.0.disposal.get_or_init(begin).clone()
    }
    /// Waits for the end of a context that must go before another one.
    pub(crate) async fn ended(&self) -> Vec<Panic> {
        match self.ending().await {
            Ok(()) => Vec::new(),
            Err(DisposeError::Cleanup(_, panics)) => panics,
            Err(other) => vec![Panic { message: other.to_string() }],
        }
    }
    async fn all_ended(dependents: Vec<Arc<Fiber>>) -> Vec<Panic> {
        let mut panics = Vec::new();
        for dependent in dependents {
            panics.extend(Ctx(dependent).ended().await);
        }
        panics
    }
    async fn tear_down(self) -> Result<(), DisposeError> {
        let dependents = self.0.provided().into_iter().flat_map(|edges| edges.close());
        let mut panics = Self::all_ended(dependents.collect()).await;
        self.0.close();
        self.0.tasks.wait().await;
        while let Some((_, undo)) = self.0.take_newest() {
            panics.extend(self.undo(undo).await);
        }
        // Last, so that cleanups could use it.
        let state = self.0.take_state();
        panics.extend(self.failed(contain_sync(|| drop(state))));
        self.0.parent.upgrade().map(|parent| parent.take(self.0.id));
        tracing::debug!(context = self.name(), "disposed");
        if panics.is_empty() { Ok(()) } else { Err(DisposeError::Cleanup(self.name().to_owned(), panics)) }
    }
}
