//! Disposal: dependents first, then cancel, drain tasks, undo newest first.
use futures_util::FutureExt;
use futures_util::future::Shared;

use crate::BoxFuture;
use crate::fiber::Ctx;
use crate::panic::{Panic, contain_sync};

/// The end of a fiber, awaited by any number of callers.
pub(crate) type Ended = Shared<BoxFuture<'static, Result<(), DisposeError>>>;

tokio::task_local! {
    /// The fiber that the running task belongs to.
    static CURRENT: Ctx;
}

/// One cleanup that panicked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("in {context}: {panic}")]
pub struct CleanupFailure {
    /// The name of the context that owned the cleanup.
    pub context: String,
    /// What it said.
    pub panic: Panic,
}

/// Why a disposal did not end well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DisposeError {
    /// The caller is a task or cleanup of the context (or of one that ends with it), which the disposal
    /// would wait for. Nothing was disposed.
    #[error(
        "context {context} cannot be disposed and awaited by one of its own tasks; dispose it from outside or call `dispose_soon`"
    )]
    FromOwnTask {
        /// The name of the context.
        context: String,
    },
    /// The context is disposed, and all other cleanups ran, but some panicked.
    #[error(
        "context {context} is disposed, but cleanups panicked: {}",
        .failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Cleanup {
        /// The name of the context.
        context: String,
        /// The cleanups that panicked, in the order in which they ran.
        failures: Vec<CleanupFailure>,
    },
    /// The runtime stopped half-way.
    #[error("the runtime stopped before context {context} was disposed; keep it until disposal is done")]
    Aborted {
        /// The name of the context.
        context: String,
    },
}
impl DisposeError {
    /// A stable code for each variant.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::FromOwnTask { .. } => "dispose-from-own-task",
            Self::Cleanup { .. } => "cleanup-panicked",
            Self::Aborted { .. } => "dispose-aborted",
        }
    }
}

impl Ctx {
    /// Ends this context and waits for it: plugins that depend on its services are disposed first, then it
    /// is cancelled, its tasks are drained, and its registrations and children are undone newest first.
    ///
    /// Teardown runs in a task of its own: dropping this future does not stop it, and all callers await
    /// the same end.
    ///
    /// # Errors
    /// [`DisposeError::FromOwnTask`] when it would wait for its caller; [`DisposeError::Cleanup`] when
    /// cleanups panicked (the rest of the teardown is done); [`DisposeError::Aborted`].
    pub async fn dispose(&self) -> Result<(), DisposeError> {
        if CURRENT.try_with(|current| self.fiber().stops(current.fiber())).unwrap_or(false) {
            return Err(DisposeError::FromOwnTask { context: self.name().to_owned() });
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
    pub(crate) fn ending(&self) -> Ended {
        let begin = || {
            let (ctx, context) = (self.clone(), self.name().to_owned());
            let task = self.runtime().spawn(self.as_current(async move { ctx.tear_down().await }));
            async move { task.await.unwrap_or(Err(DisposeError::Aborted { context })) }.boxed().shared()
        };
        self.fiber().disposal.get_or_init(begin).clone()
    }
    /// Waits for the end of a fiber that must go before another one does.
    pub(crate) async fn ended(&self) -> Vec<CleanupFailure> {
        match self.ending().await {
            Ok(()) => Vec::new(),
            Err(DisposeError::Cleanup { failures, .. }) => failures,
            Err(other) => {
                let panic = Panic { message: other.to_string() };
                vec![CleanupFailure { context: self.name().to_owned(), panic }]
            }
        }
    }
    async fn tear_down(self) -> Result<(), DisposeError> {
        let fiber = self.fiber();
        let mut failures = Vec::new();
        let mut provided = Vec::new();
        fiber.provided_below(&mut provided);
        for dependent in provided.iter().flat_map(|provided| provided.retire()) {
            failures.extend(Ctx::of(dependent).ended().await);
        }
        drop(provided);
        fiber.close();
        fiber.tasks.wait().await;
        while let Some(undo) = fiber.take_newest() {
            failures.extend(self.undo(undo).await);
        }
        // Last, so that cleanups can still use it.
        if let Err(panic) = contain_sync(|| drop(fiber.owned_scope().map(crate::scope::Scope::take_state))) {
            self.report(&panic, "state panicked when it was dropped");
            failures.push(CleanupFailure { context: self.name().to_owned(), panic });
        }
        fiber.leave_parent();
        tracing::debug!(context = self.name(), "disposed");
        let context = self.name().to_owned();
        if failures.is_empty() { Ok(()) } else { Err(DisposeError::Cleanup { context, failures }) }
    }
}
