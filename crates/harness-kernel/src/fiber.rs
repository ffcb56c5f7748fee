//! Ownership: every registration belongs to a fiber and ends with it.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tokio::runtime;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::panic::{Panic, contain, lock};
use crate::scope::{Scope, State};
use crate::service::Edges;
use crate::teardown::{Ended, Undo};

/// A number that grows with time.
pub(crate) fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

/// What all contexts of one app share.
pub(crate) struct Kernel {
    pub(crate) runtime: runtime::Handle,
    panics: AtomicU64,
}
pub(crate) struct Fiber {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) scope: Arc<Scope>,
    pub(crate) parent: Weak<Fiber>,
    /// Also the key of this fiber among the registrations of its parent.
    pub(crate) id: u64,
    name: String,
    pub(crate) plugin: Option<&'static str>,
    cancel: CancellationToken,
    pub(crate) tasks: TaskTracker,
    pub(crate) registrations: Mutex<Registrations>,
    /// Set by the first disposal; racing disposals await the same one.
    pub(crate) disposal: OnceLock<Ended>,
}
/// Keyed by age: the newest is undone first, and a single one is found without a scan.
#[derive(Default)]
pub(crate) struct Registrations {
    pub(crate) closed: bool,
    pub(crate) undo: BTreeMap<u64, Undo>,
}
impl Fiber {
    /// Gives the registration back when the fiber is closed.
    pub(crate) fn push(&self, id: u64, undo: Undo) -> Option<Undo> {
        let mut registrations = lock(&self.registrations);
        if registrations.closed { Some(undo) } else { registrations.undo.insert(id, undo) }
    }
    pub(crate) fn take(&self, id: u64) -> Option<Undo> {
        lock(&self.registrations).undo.remove(&id)
    }
    pub(crate) fn take_newest(&self) -> Option<(u64, Undo)> {
        lock(&self.registrations).undo.pop_last()
    }
    /// From here on registrations are undone on the spot, and tasks are told to stop.
    pub(crate) fn close(&self) {
        lock(&self.registrations).closed = true;
        self.cancel.cancel();
        self.tasks.close();
    }
    /// Ends the state of the scope that this fiber opened. It is user code, for the caller to drop.
    pub(crate) fn take_state(&self) -> Option<State> {
        let is_shared = self.parent.upgrade().is_some_and(|parent| Arc::ptr_eq(&parent.scope, &self.scope));
        if is_shared { None } else { lock(&self.scope.state).take() }
    }
    /// The services that this fiber and its children provide, newest first.
    pub(crate) fn provided(&self) -> Vec<Arc<Edges>> {
        let registrations = lock(&self.registrations);
        let provided = registrations.undo.values().rev().flat_map(|undo| match undo {
            Undo::Entry(_, edges) => edges.iter().cloned().collect(),
            Undo::Child(child) => child.0.provided(),
            Undo::Cleanup(_) => Vec::new(),
        });
        provided.collect()
    }
    /// Whether disposing this fiber disposes `other` too: it is below this one or depends on it.
    pub(crate) fn ends_with(self: &Arc<Self>, other: &Arc<Fiber>) -> bool {
        let above = std::iter::successors(Some(Arc::clone(other)), |fiber| fiber.parent.upgrade());
        let above: Vec<_> = above.map(|fiber| fiber.id).collect();
        let mut ending = BTreeMap::from([(self.id, Arc::clone(self))]);
        // Dependents are newer than what they depend on: oldest first visits each once.
        while let Some((id, fiber)) = ending.pop_first() {
            if above.contains(&id) {
                return true;
            }
            let dependents = fiber.provided().into_iter().flat_map(|edges| edges.dependents());
            ending.extend(dependents.map(|dependent| (dependent.id, dependent)));
        }
        false
    }
}

/// A plugin's view of the kernel: what it registers here ends with its fiber. Clones are the same context.
///
/// A listener, service or task that keeps a `Ctx` forms a reference cycle that only disposal opens.
#[derive(Clone)]
pub struct Ctx(pub(crate) Arc<Fiber>);

impl Ctx {
    pub(crate) fn root(runtime: runtime::Handle) -> Self {
        let (name, kernel) = ("root".to_owned(), Kernel { runtime, panics: AtomicU64::new(0) });
        Self::new(Arc::new(kernel), None, name.clone(), None, Scope::new(name, None))
    }
    pub(crate) fn child(&self, name: String, plugin: Option<&'static str>, scope: Arc<Scope>) -> Self {
        let child = Self::new(Arc::clone(&self.0.kernel), Some(&self.0), name, plugin, scope);
        if self.0.push(child.0.id, Undo::Child(child.clone())).is_some() {
            child.0.close();
            child.0.take_state();
        }
        child
    }
    fn new(
        kernel: Arc<Kernel>,
        parent: Option<&Arc<Fiber>>,
        name: String,
        plugin: Option<&'static str>,
        scope: Arc<Scope>,
    ) -> Self {
        let cancel = parent.map(|parent| parent.cancel.child_token()).unwrap_or_default();
        let (id, parent, tasks) =
            (next_id(), parent.map(Arc::downgrade).unwrap_or_default(), TaskTracker::new());
        let (registrations, disposal) = (Mutex::default(), OnceLock::new());
        let fiber = Fiber { kernel, scope, parent, id, name, plugin, cancel, tasks, registrations, disposal };
        Self(Arc::new(fiber))
    }
    pub(crate) fn report(&self, panic: &Panic, what: &str) {
        self.0.kernel.panics.fetch_add(1, Ordering::Relaxed);
        tracing::error!(context = self.name(), plugin = self.0.plugin, panic = panic.message, "{what}");
    }
    /// A task that disposal awaits but does not cancel.
    pub(crate) fn spawn_owned(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.kernel.runtime.spawn(self.0.tasks.track_future(self.as_current(work)));
    }

    /// The name of this context: its plugin's, or the one given to [`Ctx::fork`] or [`Ctx::scope`].
    pub fn name(&self) -> &str {
        &self.0.name
    }
    /// A child context with the same visibility. On a closed context the child is closed as well.
    #[must_use]
    pub fn fork(&self, name: impl Into<String>) -> Self {
        self.child(name.into(), self.0.plugin, Arc::clone(&self.0.scope))
    }
    /// A child context whose listeners and services are seen only inside it; it sees those of its parents.
    /// On a closed context the child is closed as well.
    #[must_use]
    pub fn scope(&self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.child(name.clone(), self.0.plugin, Scope::new(name, Some(Arc::clone(&self.0.scope))))
    }
    /// Runs async cleanup when this context is disposed; on a closed context at once, in a task of its own.
    pub fn on_dispose<Fut>(&self, cleanup: impl FnOnce() -> Fut + Send + 'static)
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.own(Undo::Cleanup(Box::new(move || Box::pin(cleanup()))));
    }
    /// Spawns a task that is dropped at its next await when this context is disposed; the disposal awaits
    /// it. A panic is contained and reported. On a closed context the task never runs.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let ctx = self.clone();
        self.spawn_owned(async move {
            if let Err(panic) = contain(async { ctx.0.cancel.run_until_cancelled(task).await }).await {
                ctx.report(&panic, "a task panicked");
            }
        });
    }
    /// Cancelled when this context starts to end. Narrow it with `child_token`.
    pub fn cancel_token(&self) -> CancellationToken {
        self.0.cancel.clone()
    }
    /// Whether this context has started to end: what is registered now is undone on the spot.
    pub fn is_closed(&self) -> bool {
        lock(&self.0.registrations).closed
    }
    /// How many panics of observers, tasks and cleanups the app has contained; each was a `tracing` error.
    pub fn contained_panics(&self) -> u64 {
        self.0.kernel.panics.load(Ordering::Relaxed)
    }
}
impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ctx").field(&self.name()).finish()
    }
}
