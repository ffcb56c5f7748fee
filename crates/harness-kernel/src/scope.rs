//! A node of the visibility tree: what is registered in it is seen in it and below it.
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::fiber::Ctx;
use crate::listeners::Listeners;
use crate::panic::lock;
use crate::service::Services;

type Values = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

pub(crate) struct Scope {
    pub(crate) name: String,
    parent: Option<Arc<Scope>>,
    pub(crate) listeners: Listeners,
    pub(crate) services: Services,
    /// `None` once the scope has ended.
    state: Mutex<Option<Values>>,
}

impl Scope {
    pub(crate) fn new(name: String, parent: Option<Arc<Scope>>) -> Arc<Self> {
        let state = Mutex::new(Some(Values::new()));
        Arc::new(Self { name, parent, listeners: Listeners::default(), services: Services::default(), state })
    }
    /// This scope, then its parents.
    pub(crate) fn chain(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref())
    }
    /// Ends the typed state; the values are user code and are dropped by the caller.
    pub(crate) fn take_state(&self) -> Option<impl Sized + use<>> {
        lock(&self.state).take()
    }
}

impl Ctx {
    /// The value of type `T` that belongs to exactly this scope; made at its first use.
    ///
    /// Forks share it, inner scopes have their own. It is freed when the scope is disposed, after all
    /// cleanups; from then on each call gives a fresh value that nobody keeps.
    #[must_use]
    pub fn state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let key = TypeId::of::<T>();
        let known = |values: &Values| values.get(&key).cloned().and_then(|value| value.downcast().ok());
        if let Some(value) = lock(&self.scope_node().state).as_ref().and_then(known) {
            return value;
        }
        let fresh: Arc<T> = Arc::default(); // made outside the lock: `default` is user code
        let mut state = lock(&self.scope_node().state);
        let Some(values) = state.as_mut() else { return fresh };
        known(values).unwrap_or_else(|| {
            values.insert(key, Arc::clone(&fresh) as _);
            fresh
        })
    }

    /// The values of type `T` of this scope and those around it, innermost first; scopes without one are skipped.
    #[must_use]
    pub fn state_chain<T: Send + Sync + 'static>(&self) -> Vec<Arc<T>> {
        let key = TypeId::of::<T>();
        let value = |scope: &Scope| lock(&scope.state).as_ref()?.get(&key).cloned()?.downcast().ok();
        self.scope_node().chain().filter_map(value).collect()
    }
}
