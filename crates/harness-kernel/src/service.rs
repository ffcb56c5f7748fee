//! Services are trait objects keyed by the trait itself. The only place where services are type-erased.
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, RwLock, Weak};

use crate::fiber::{Ctx, Fiber};
use crate::handle::{Handle, Undo};
use crate::panic::{lock, read, write};
use crate::scope::Scope;

/// Implemented once for each seam, on the seam's own `dyn` type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a service",
    note = "write `impl Service for dyn YourTrait` beside the trait and ask for `dyn YourTrait`"
)]
pub trait Service: Send + Sync + 'static {
    /// Stable catalog name such as `llm`.
    const NAME: &'static str;
}

/// One provided service, for the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceInfo {
    /// The service's catalog name.
    pub name: &'static str,
    /// The name of the scope it is provided in; `root` for the whole app.
    pub scope: String,
    /// The plugin that provides it; `None` for the owner of the app.
    pub plugin: Option<&'static str>,
}

/// Why a service was not provided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProvideError {
    /// The scope has a provider already.
    #[error(
        "service {service} is already provided in scope {scope} by {}; remove one of the two or declare a replacement with `Ctx::replace`",
        .plugin.unwrap_or("the app")
    )]
    AlreadyProvided {
        /// The service's name.
        service: &'static str,
        /// The name of the scope.
        scope: String,
        /// The plugin that provides it now; `None` for the owner of the app.
        plugin: Option<&'static str>,
    },
    /// The context was disposed before.
    #[error("service {service} cannot be provided: the context {context} is disposed")]
    Closed {
        /// The service's name.
        service: &'static str,
        /// The name of the context.
        context: String,
    },
}
impl ProvideError {
    /// A stable code for each variant.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AlreadyProvided { .. } => "service-already-provided",
            Self::Closed { .. } => "context-closed",
        }
    }
}

pub(crate) struct Provided {
    key: TypeId,
    name: &'static str,
    replacement: bool,
    plugin: Option<&'static str>,
    provider: Weak<Fiber>,
    value: Box<dyn Any + Send + Sync>,
    dependents: Mutex<Dependents>,
}
#[derive(Default)]
struct Dependents {
    closed: bool,
    fibers: Vec<Weak<Fiber>>,
}

impl Provided {
    /// False when the provider is going away.
    fn add_dependent(&self, fiber: &Arc<Fiber>) -> bool {
        let mut dependents = lock(&self.dependents);
        if !dependents.closed {
            dependents.fibers.retain(|known| known.strong_count() > 0);
            dependents.fibers.push(Arc::downgrade(fiber));
        }
        !dependents.closed
    }
    /// The plugins that hold this service, newest first.
    pub(crate) fn dependents(&self) -> Vec<Arc<Fiber>> {
        lock(&self.dependents).fibers.iter().rev().filter_map(Weak::upgrade).collect()
    }
    /// Takes no new dependents from here on; gives those that must go first.
    pub(crate) fn retire(&self) -> Vec<Arc<Fiber>> {
        lock(&self.dependents).closed = true;
        self.dependents()
    }
}

/// What one scope provides: for each service at most one plain entry, then its replacements.
#[derive(Default)]
pub(crate) struct Services(RwLock<HashMap<TypeId, Vec<Arc<Provided>>>>);

impl Services {
    fn insert(&self, provided: Arc<Provided>) -> Result<(), Option<&'static str>> {
        let mut table = write(&self.0);
        let stack = table.entry(provided.key).or_default();
        match stack.first() {
            _ if provided.replacement => stack.push(provided),
            Some(other) if !other.replacement => return Err(other.plugin),
            _ => stack.insert(0, provided),
        }
        Ok(())
    }
    /// The removed entry is user code: the caller still holds it, so it is not dropped under the lock.
    pub(crate) fn remove(&self, provided: &Arc<Provided>) {
        let mut table = write(&self.0);
        if let Some(stack) = table.get_mut(&provided.key) {
            stack.retain(|entry| !Arc::ptr_eq(entry, provided));
            if stack.is_empty() {
                table.remove(&provided.key);
            }
        }
    }
}

impl Scope {
    /// The nearest provider that `admit` takes.
    fn find(&self, key: TypeId, admit: impl Fn(&Provided) -> bool) -> Option<Arc<Provided>> {
        self.chain().find_map(|scope| {
            let table = read(&scope.services.0);
            table.get(&key)?.iter().rev().find(|provided| admit(provided)).cloned()
        })
    }
    fn service<S: Service + ?Sized>(&self) -> Option<Arc<S>> {
        self.find(TypeId::of::<S>(), |_| true)?.value.downcast_ref().cloned()
    }
}

impl Ctx {
    /// Publishes an implementation for this scope and those below it, until this context is disposed.
    ///
    /// # Errors
    /// [`ProvideError`] when this scope has a provider already, or when this context is disposed.
    pub fn provide<S: Service + ?Sized>(&self, service: Arc<S>) -> Result<Handle, ProvideError> {
        let handle = self.publish(service, false)?;
        let closed = || ProvideError::Closed { service: S::NAME, context: self.name().to_owned() };
        if handle.is_inert() { Err(closed()) } else { Ok(handle) }
    }
    /// Publishes an implementation in front of the one that this scope has or will have, which becomes
    /// visible again when this one is disposed. Of two replacements the later one is visible.
    ///
    /// Plugins that hold the earlier implementation keep it until they are reloaded.
    pub fn replace<S: Service + ?Sized>(&self, service: Arc<S>) -> Handle {
        self.publish(service, true).unwrap_or_default() // a replacement meets no conflict
    }
    fn publish<S: Service + ?Sized>(
        &self,
        service: Arc<S>,
        replacement: bool,
    ) -> Result<Handle, ProvideError> {
        let provided = Arc::new(Provided {
            key: TypeId::of::<S>(),
            name: S::NAME,
            replacement,
            plugin: self.plugin_name(),
            provider: Arc::downgrade(self.fiber()),
            value: Box::new(service),
            dependents: Mutex::default(),
        });
        let scope = self.scope_node();
        scope.services.insert(Arc::clone(&provided)).map_err(|plugin| ProvideError::AlreadyProvided {
            service: S::NAME,
            scope: scope.name.clone(),
            plugin,
        })?;
        Ok(self.own(Undo::Service(provided)))
    }
    /// The nearest implementation that this scope sees.
    #[must_use]
    pub fn service<S: Service + ?Sized>(&self) -> Option<Arc<S>> {
        self.scope_node().service()
    }
    /// As [`Ctx::service`], and ties this context to the provider: it is disposed before the provider goes.
    pub(crate) fn depend<S: Service + ?Sized>(&self) -> Option<Arc<S>> {
        let is_open = |provided: &Provided| !lock(&provided.dependents).closed;
        let provided = self.scope_node().find(TypeId::of::<S>(), is_open)?;
        let provider = provided.provider.upgrade()?;
        let _one_at_a_time = self.lock_edges();
        // An edge that would make a provider wait for itself is left out: it could never be disposed.
        let tied = self.fiber().stops(&provider) || provided.add_dependent(self.fiber());
        if tied { provided.value.downcast_ref().cloned() } else { None }
    }
    /// A reference that is resolved at each use: for optional collaborators.
    #[must_use]
    pub fn lazy<S: Service + ?Sized>(&self) -> Lazy<S> {
        Lazy { scope: Arc::downgrade(self.scope_node()), service: PhantomData }
    }
    /// The services that this scope sees, nearest first.
    #[must_use]
    pub fn services(&self) -> Vec<ServiceInfo> {
        let mut all = Vec::new();
        for scope in self.scope_node().chain() {
            let from = all.len();
            for provided in read(&scope.services.0).values().flatten() {
                let (name, scope, plugin) = (provided.name, scope.name.clone(), provided.plugin);
                all.push(ServiceInfo { name, scope, plugin });
            }
            all[from..].sort_by_key(|info| info.name);
        }
        all
    }
}

/// An optional collaborator, looked up at each use, so that load order cannot change policy.
///
/// It keeps nothing alive: a service may store one.
pub struct Lazy<S: ?Sized> {
    scope: Weak<Scope>,
    service: PhantomData<fn() -> Arc<S>>,
}
impl<S: Service + ?Sized> Lazy<S> {
    /// The implementation that is visible now, if any.
    #[must_use]
    pub fn get(&self) -> Option<Arc<S>> {
        self.scope.upgrade()?.service()
    }
}
impl<S: ?Sized> Clone for Lazy<S> {
    fn clone(&self) -> Self {
        Self { scope: Weak::clone(&self.scope), service: PhantomData }
    }
}
