//! Ownership: every registration belongs to a fiber and ends with it.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use tokio::runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::handle::Undo;
use crate::listeners::ListenerInfo;
use crate::panic::{Panic, contain, lock};
use crate::scope::Scope;
use crate::service::Provided;
use crate::teardown::Ended;

/// What all contexts of one app share.
struct Kernel {
    runtime: runtime::Handle,
    ids: AtomicU64,
    /// Held while one plugin is tied to a provider, so that no cycle of waiting can arise.
    edges: Mutex<()>,
    panics: AtomicU64,
}

pub(crate) struct Fiber {
    kernel: Arc<Kernel>,
    scope: Arc<Scope>,
    parent: Weak<Fiber>,
    /// Also the key of this fiber among the registrations of its parent.
    id: u64,
    name: String,
    plugin: Option<&'static str>,
    pub(crate) cancel: CancellationToken,
    pub(crate) tasks: TaskTracker,
    registrations: Mutex<Registrations>,
    /// Set by the first disposal; racing disposals await the same one.
    pub(crate) disposal: OnceLock<Ended>,
}
/// Keyed by age: the newest is undone first, and a single one is found without a scan.
struct Registrations {
    open: bool,
    undo: BTreeMap<u64, Undo>,
}

impl Fiber {
    /// Gives the registration back when the fiber is closed.
    pub(crate) fn push(&self, id: u64, undo: Undo) -> Option<Undo> {
        let mut registrations = lock(&self.registrations);
        if registrations.open {
            return registrations.undo.insert(id, undo);
        }
        Some(undo)
    }
    pub(crate) fn take(&self, id: u64) -> Option<Undo> {
        lock(&self.registrations).undo.remove(&id)
    }
    pub(crate) fn take_newest(&self) -> Option<Undo> {
        lock(&self.registrations).undo.pop_last().map(|(_, undo)| undo)
    }
    /// From here on registrations are undone on the spot, and tasks are told to stop.
    pub(crate) fn close(&self) {
        lock(&self.registrations).open = false;
        self.cancel.cancel();
        self.tasks.close();
    }
    pub(crate) fn leave_parent(&self) {
        if let Some(parent) = self.parent.upgrade() {
            parent.take(self.id);
        }
    }
    pub(crate) fn owned_scope(&self) -> Option<&Scope> {
        let shared = self.parent.upgrade().is_some_and(|parent| Arc::ptr_eq(&parent.scope, &self.scope));
        (!shared).then_some(&*self.scope)
    }
    /// The services that this fiber and its children provide, newest first.
    pub(crate) fn provided_below(&self, into: &mut Vec<Arc<Provided>>) {
        for undo in lock(&self.registrations).undo.values().rev() {
            match undo {
                Undo::Service(provided) => into.push(Arc::clone(provided)),
                Undo::Child(child) => child.0.provided_below(into),
                Undo::Listener(_) | Undo::Cleanup(_) => {}
            }
        }
    }
    fn is_within(self: &Arc<Self>, outer: &Arc<Fiber>) -> bool {
        let mut parents = std::iter::successors(Some(Arc::clone(self)), |fiber| fiber.parent.upgrade());
        parents.any(|fiber| Arc::ptr_eq(&fiber, outer))
    }
    /// Whether the disposal of this fiber includes the disposal of `other`: below it, or dependent on it.
    pub(crate) fn stops(self: &Arc<Self>, other: &Arc<Fiber>) -> bool {
        let mut ending = vec![Arc::clone(self)];
        let mut at = 0;
        while let Some(fiber) = ending.get(at).cloned() {
            if other.is_within(&fiber) {
                return true;
            }
            let mut provided = Vec::new();
            fiber.provided_below(&mut provided);
            for dependent in provided.iter().flat_map(|provided| provided.dependents()) {
                if !ending.iter().any(|known| Arc::ptr_eq(known, &dependent)) {
                    ending.push(dependent);
                }
            }
            at += 1;
        }
        false
    }
}

/// A plugin's view of the kernel: what it registers here ends with its fiber. Clones are the same context.
///
/// A listener, service or task that keeps a `Ctx` forms a reference cycle that only disposal opens.
#[derive(Clone)]
pub struct Ctx(Arc<Fiber>);

impl Ctx {
    pub(crate) fn root(runtime: runtime::Handle) -> Self {
        let (ids, panics) = (AtomicU64::new(1), AtomicU64::new(0));
        let kernel = Arc::new(Kernel { runtime, ids, edges: Mutex::new(()), panics });
        let scope = Scope::new("root".to_owned(), None);
        Self::new(kernel, scope, Weak::new(), 0, "root".to_owned(), None, CancellationToken::new())
    }
    fn new(
        kernel: Arc<Kernel>,
        scope: Arc<Scope>,
        parent: Weak<Fiber>,
        id: u64,
        name: String,
        plugin: Option<&'static str>,
        cancel: CancellationToken,
    ) -> Self {
        let registrations = Mutex::new(Registrations { open: true, undo: BTreeMap::new() });
        let (tasks, disposal) = (TaskTracker::new(), OnceLock::new());
        Self(Arc::new(Fiber {
            kernel,
            scope,
            parent,
            id,
            name,
            plugin,
            cancel,
            tasks,
            registrations,
            disposal,
        }))
    }
    fn child(&self, name: String, scope: Arc<Scope>, plugin: Option<&'static str>) -> Self {
        let (kernel, cancel) = (Arc::clone(&self.0.kernel), self.0.cancel.child_token());
        let id = self.fresh_id();
        let child = Self::new(kernel, scope, Arc::downgrade(&self.0), id, name, plugin, cancel);
        if self.0.push(id, Undo::Child(child.clone())).is_some() {
            child.0.close();
        }
        child
    }
    pub(crate) fn of(fiber: Arc<Fiber>) -> Self {
        Self(fiber)
    }
    pub(crate) fn fiber(&self) -> &Arc<Fiber> {
        &self.0
    }
    pub(crate) fn scope_node(&self) -> &Arc<Scope> {
        &self.0.scope
    }
    pub(crate) fn fresh_id(&self) -> u64 {
        self.0.kernel.ids.fetch_add(1, Ordering::Relaxed)
    }
    pub(crate) fn lock_edges(&self) -> MutexGuard<'_, ()> {
        lock(&self.0.kernel.edges)
    }
    pub(crate) fn runtime(&self) -> &runtime::Handle {
        &self.0.kernel.runtime
    }
    pub(crate) fn plugin_name(&self) -> Option<&'static str> {
        self.0.plugin
    }
    pub(crate) fn fork_plugin(&self, name: &'static str) -> Self {
        self.child(name.to_owned(), Arc::clone(&self.0.scope), Some(name))
    }
    pub(crate) fn is_unused(&self) -> bool {
        lock(&self.0.registrations).undo.is_empty()
    }
    pub(crate) fn report(&self, panic: &Panic, what: &str) {
        self.0.kernel.panics.fetch_add(1, Ordering::Relaxed);
        tracing::error!(context = self.name(), plugin = self.plugin_name(), panic = panic.message, "{what}");
    }
    /// A task that disposal awaits but does not cancel.
    pub(crate) fn spawn_owned(&self, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.runtime().spawn(self.0.tasks.track_future(self.as_current(work)))
    }

    /// The name given to this context: a plugin's name, or that of its [`Ctx::fork`] or [`Ctx::scope`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }
    /// A child context with the same visibility. On a closed context the child is closed as well.
    #[must_use]
    pub fn fork(&self, name: impl Into<String>) -> Self {
        self.child(name.into(), Arc::clone(&self.0.scope), self.0.plugin)
    }
    /// A child context whose listeners and services are seen only inside it; it sees those of its parents.
    /// On a closed context the child is closed as well.
    #[must_use]
    pub fn scope(&self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.child(name.clone(), Scope::new(name, Some(Arc::clone(&self.0.scope))), self.0.plugin)
    }
    /// Runs async cleanup when this context is disposed; on a closed context at once, in a task of its own.
    pub fn on_dispose<Fut>(&self, cleanup: impl FnOnce() -> Fut + Send + 'static)
    where
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.own(Undo::Cleanup(Box::new(move || Box::pin(cleanup()))));
    }
    /// Spawns a task that is dropped at its next await when this context is disposed, and awaited by the
    /// disposal. On a closed context the task never runs. A panic is contained and reported.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if self.is_closed() {
            return;
        }
        let ctx = self.clone();
        self.spawn_owned(async move {
            if let Some(Err(panic)) = ctx.0.cancel.run_until_cancelled(contain(task)).await {
                ctx.report(&panic, "a task panicked");
            }
        });
    }
    /// Cancelled when this context starts to end. Narrow it with `child_token`.
    #[must_use]
    pub fn cancel_token(&self) -> CancellationToken {
        self.0.cancel.clone()
    }
    /// Whether this context has started to end: what is registered now is undone on the spot.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !lock(&self.0.registrations).open
    }
    /// How many panics of observers, tasks and cleanups the whole app has contained so far. Each was
    /// reported as a `tracing` error.
    #[must_use]
    pub fn contained_panics(&self) -> u64 {
        self.0.kernel.panics.load(Ordering::Relaxed)
    }
    /// The listeners that hear an event dispatched here: nearest scope first, by event within a scope.
    #[must_use]
    pub fn listeners(&self) -> Vec<ListenerInfo> {
        let mut all = Vec::new();
        for scope in self.0.scope.chain() {
            let from = all.len();
            scope.listeners.describe(&mut all);
            all[from..].sort_by_key(|info| info.event);
        }
        all
    }
}
impl std::fmt::Debug for Ctx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctx")
            .field("name", &self.0.name)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
