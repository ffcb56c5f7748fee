//! Services are trait objects keyed by the trait itself.
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, Weak};

use crate::event::Order;
use crate::fiber::{Ctx, Fiber};
use crate::panic::lock;
use crate::scope::{Entry, Scope};
use crate::teardown::{Handle, Undo};

/// Implemented once for each seam, on the seam's own `dyn` type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a service",
    note = "write `impl Service for dyn YourTrait` beside the trait and ask for `dyn YourTrait`"
)]
pub trait Service: Send + Sync + 'static {
    /// Stable catalog name such as `llm`.
    const NAME: &'static str;
}

/// Why a service was not provided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProvideError {
    /// The scope has a provider already: service, scope and providing plugin (`None` for the app's owner).
    #[error("service {0} is already provided in scope {1} by {by}; remove one or use `Ctx::replace`", by = .2.unwrap_or("the app"))]
    AlreadyProvided(&'static str, String, Option<&'static str>),
    /// The context was disposed before: service and context.
    #[error("service {0} cannot be provided: the context {1} is disposed")]
    Closed(&'static str, String),
}
impl ProvideError {
    /// A stable code for each variant.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AlreadyProvided(..) => "service-already-provided",
            Self::Closed(..) => "context-closed",
        }
    }
}

/// The plugins that hold one provided service. They are disposed before it goes.
pub(crate) struct Edges {
    provider: Weak<Fiber>,
    /// And whether the provider is going away, so that it takes no more.
    dependents: Mutex<(Vec<Weak<Fiber>>, bool)>,
}
impl Edges {
    fn add(&self, dependent: &Arc<Fiber>) -> bool {
        let (dependents, closed) = &mut *lock(&self.dependents);
        dependents.retain(|known| known.strong_count() > 0);
        if !*closed {
            dependents.push(Arc::downgrade(dependent));
        }
        !*closed
    }
    /// Newest first.
    pub(crate) fn dependents(&self) -> Vec<Arc<Fiber>> {
        lock(&self.dependents).0.iter().rev().filter_map(Weak::upgrade).collect()
    }
    /// Takes no new dependents from here on, and gives those that must go first.
    pub(crate) fn close(&self) -> Vec<Arc<Fiber>> {
        lock(&self.dependents).1 = true;
        self.dependents()
    }
}

impl Ctx {
    /// Publishes an implementation for this scope and those below it, until this context is disposed.
    ///
    /// # Errors
    /// [`ProvideError`] when this scope has a provider already, or when this context is disposed.
    pub fn provide<S: Service + ?Sized>(&self, service: Arc<S>) -> Result<Handle, ProvideError> {
        let handle = self.publish(service, Order::Prepend)?;
        let closed = || ProvideError::Closed(S::NAME, self.name().to_owned());
        if handle.is_inert() { Err(closed()) } else { Ok(handle) }
    }
    /// Publishes an implementation in front of the one that this scope has or will have, which becomes
    /// visible again when this one is disposed. Of two replacements the later one is visible. Plugins that
    /// hold the earlier implementation keep it until they are reloaded.
    pub fn replace<S: Service + ?Sized>(&self, service: Arc<S>) -> Handle {
        self.publish(service, Order::Append).unwrap_or_default() // a replacement meets no conflict
    }
    fn publish<S: Service + ?Sized>(&self, value: Arc<S>, order: Order) -> Result<Handle, ProvideError> {
        let (scope, plugin) = (&self.0.scope, self.0.plugin);
        let edges = Arc::new(Edges { provider: Arc::downgrade(&self.0), dependents: Mutex::default() });
        let entry = Entry { plugin, value, edges: Some(Arc::clone(&edges)) };
        let position = scope.insert((S::NAME, None, order), entry, |first| match first {
            // What is provided sits before the first place, replacements after it.
            Some((..0, other)) if order == Order::Prepend => {
                Err(ProvideError::AlreadyProvided(S::NAME, scope.name(), other.plugin))
            }
            _ => Ok(()),
        })?;
        Ok(self.own(Undo::Service(position, edges)))
    }
    /// The nearest implementation that this scope sees.
    #[must_use]
    pub fn service<S: Service + ?Sized>(&self) -> Option<Arc<S>> {
        self.0.scope.nearest(|entry| Some(Arc::clone(&entry.value)))
    }
    /// As [`Ctx::service`], and ties this context to the provider: it is disposed before the provider goes.
    pub(crate) fn depend<S: Service + ?Sized>(&self) -> Option<Arc<S>> {
        let (value, edges) = self.0.scope.nearest(|entry: &Entry<S>| {
            let edges = entry.edges.as_ref().filter(|edges| !lock(&edges.dependents).1)?;
            Some((Arc::clone(&entry.value), Arc::clone(edges)))
        })?;
        let provider = edges.provider.upgrade()?;
        let _one_at_a_time = lock(&self.0.kernel.edges);
        // An edge that would make a provider wait for itself is left out: it could never be disposed.
        (self.0.ends_with(&provider) || edges.add(&self.0)).then_some(value)
    }
    /// A reference that is resolved at each use: for optional collaborators.
    #[must_use]
    pub fn lazy<S: Service + ?Sized>(&self) -> Lazy<S> {
        Lazy { scope: Arc::downgrade(&self.0.scope), service: PhantomData }
    }
}

/// An optional collaborator, looked up at each use, so that load order cannot change policy.
/// It keeps nothing alive: a service may store one.
pub struct Lazy<S: ?Sized> {
    scope: Weak<Scope>,
    service: PhantomData<fn() -> Arc<S>>,
}
impl<S: Service + ?Sized> Lazy<S> {
    /// The implementation that is visible now, if any.
    #[must_use]
    pub fn get(&self) -> Option<Arc<S>> {
        self.scope.upgrade()?.nearest(|entry| Some(Arc::clone(&entry.value)))
    }
}
impl<S: ?Sized> Clone for Lazy<S> {
    fn clone(&self) -> Self {
        Self { scope: Weak::clone(&self.scope), service: PhantomData }
    }
}
