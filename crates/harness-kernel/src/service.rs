//! Services are trait objects keyed by the trait itself.
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, Weak};

use crate::fiber::{Ctx, Fiber};
use crate::scope::{Entry, Scope};
use crate::teardown::{Handle, Undo};
use crate::{event::Order, panic::lock};

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
    pub fn code(&self) -> &'static str {
        match self {
            Self::AlreadyProvided(..) => "service-already-provided",
            Self::Closed(..) => "context-closed",
        }
    }
}

/// The contexts that hold one provided service, and are disposed before it goes.
pub(crate) struct Edges {
    provider: u64,
    /// And whether the provider is going away, so that it takes no more.
    dependents: Mutex<(Vec<Weak<Fiber>>, bool)>,
}
impl Edges {
    /// Only a fiber that is newer than the provider is tied to it, as a plugin that starts is. So each fiber
    /// waits for newer ones only, for dependents as for children, and no ring of waiting can arise.
    fn tie(&self, dependent: &Arc<Fiber>) -> bool {
        let (dependents, closed) = &mut *lock(&self.dependents);
        if self.provider < dependent.id && !*closed {
            dependents.retain(|known| known.strong_count() > 0);
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
    /// Publishes an implementation for this scope and those below it, until this context is disposed. Fails
    /// when this scope has a provider already, and when this context is disposed.
    pub fn provide<S: Service + ?Sized>(&self, service: Arc<S>) -> Result<Handle, ProvideError> {
        let handle = self.publish(service, Order::Prepend)?;
        let closed = || ProvideError::Closed(S::NAME, self.name().to_owned());
        if handle.is_inert() { Err(closed()) } else { Ok(handle) }
    }
    /// Publishes an implementation in front of the one that this scope has or will have, which is seen again
    /// when this one is disposed. Of two replacements the later is seen. A plugin that holds the earlier
    /// implementation keeps it until it is reloaded.
    pub fn replace<S: Service + ?Sized>(&self, service: Arc<S>) -> Handle {
        self.publish(service, Order::Append).unwrap_or_default() // a replacement meets no conflict
    }
    /// What is provided goes before place 0, replacements after it.
    fn publish<S: Service + ?Sized>(&self, value: Arc<S>, order: Order) -> Result<Handle, ProvideError> {
        let edges = Arc::new(Edges { provider: self.0.id, dependents: Mutex::default() });
        let entry = Entry { plugin: self.0.plugin, value, edges: Some(Arc::clone(&edges)) };
        let taken = |plugin| ProvideError::AlreadyProvided(S::NAME, self.0.scope.name.clone(), plugin);
        let position = self.0.scope.insert((S::NAME, None, order), entry, |first| match first {
            Some((..0, plugin)) if order == Order::Prepend => Err(taken(plugin)),
            _ => Ok(()),
        })?;
        Ok(self.own(Undo::Entry(position, Some(edges))))
    }
    /// The nearest implementation that this scope sees.
    pub fn service<S: Service + ?Sized>(&self) -> Option<Arc<S>> {
        self.0.scope.nearest(|entry| Some(Arc::clone(&entry.value)))
    }
    /// As [`Ctx::service`], and ties this context to the provider.
    pub(crate) fn depend<S: Service + ?Sized>(&self) -> Option<Arc<S>> {
        let tie = |entry: &Entry<S>| entry.edges.as_ref().is_some_and(|edges| edges.tie(&self.0));
        self.0.scope.nearest(|entry| tie(entry).then(|| Arc::clone(&entry.value)))
    }
    /// A reference that is resolved at each use: for optional collaborators.
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
    pub fn get(&self) -> Option<Arc<S>> {
        self.scope.upgrade()?.nearest(|entry| Some(Arc::clone(&entry.value)))
    }
}
impl<S: ?Sized> Clone for Lazy<S> {
    fn clone(&self) -> Self {
        Self { scope: Weak::clone(&self.scope), service: PhantomData }
    }
}
