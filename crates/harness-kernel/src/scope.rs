//! The visibility tree, and the only place where listeners, services and state are type-erased.
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use crate::event::{Mode, Order};
use crate::{fiber::Ctx, panic::lock, service::Edges};

/// One registered listener, for the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenerInfo {
    /// The event's catalog name.
    pub event: &'static str,
    /// How that event is dispatched.
    pub mode: Mode,
    /// The plugin that registered it; `None` for the owner of the app.
    pub plugin: Option<&'static str>,
}
/// One provided service, for the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceInfo {
    /// The service's catalog name.
    pub name: &'static str,
    /// The name of the scope that provides it; `root` for the whole app.
    pub scope: String,
    /// The plugin that provides it; `None` for the owner of the app.
    pub plugin: Option<&'static str>,
}

/// What a dispatch walks: cloned in one step, so that no lock is held while listeners run.
pub(crate) type List<T> = Arc<[Arc<T>]>;
/// All entries of one type: `T` is a listener's `dyn Fn`, which names its event, or a service's `dyn` trait.
struct Slot<T: ?Sized> {
    name: &'static str,
    mode: Option<Mode>,
    /// Keyed by place, so that a removal finds its entry without a scan.
    entries: BTreeMap<i64, Entry<T>>,
    /// Forgotten by each change and built again by the next dispatch.
    list: OnceLock<List<T>>,
}
pub(crate) struct Entry<T: ?Sized> {
    pub(crate) plugin: Option<&'static str>,
    pub(crate) value: Arc<T>,
    /// Who depends on it, if it is a service.
    pub(crate) edges: Option<Arc<Edges>>,
}
type Description = (&'static str, Option<Mode>, Option<&'static str>);
trait AnySlot: Any + Send + Sync {
    fn take(&mut self, place: i64) -> Option<Box<dyn Any>>;
    fn describe(&self) -> Vec<Description>;
}
impl<T: ?Sized + Send + Sync + 'static> AnySlot for Slot<T> {
    fn take(&mut self, place: i64) -> Option<Box<dyn Any>> {
        self.list.take();
        Some(Box::new(self.entries.remove(&place)?.value))
    }
    fn describe(&self) -> Vec<Description> {
        self.entries.values().map(|entry| (self.name, self.mode, entry.plugin)).collect()
    }
}
#[derive(Default)]
struct Table {
    slots: HashMap<TypeId, Box<dyn AnySlot>>,
    places: i64,
}
pub(crate) type State = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// A node of the tree: what is registered in it is seen in it and below it.
pub(crate) struct Scope {
    pub(crate) name: String,
    parent: Option<Arc<Scope>>,
    table: RwLock<Table>,
    /// `None` once the scope has ended.
    pub(crate) state: Mutex<Option<State>>,
}
impl Scope {
    pub(crate) fn new(name: String, parent: Option<Arc<Scope>>) -> Arc<Self> {
        Arc::new(Self { name, parent, table: RwLock::default(), state: Mutex::new(Some(State::new())) })
    }
    fn chain(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |scope| scope.parent.as_deref())
    }
    /// `admit` sees the place and the plugin of the first entry. The result is what [`Scope::remove`] takes.
    pub(crate) fn insert<T: ?Sized + Send + Sync + 'static, E>(
        &self,
        (name, mode, order): (&'static str, Option<Mode>, Order),
        entry: Entry<T>,
        admit: impl FnOnce(Option<(i64, Option<&'static str>)>) -> Result<(), E>,
    ) -> Result<(TypeId, i64), E> {
        let key = TypeId::of::<Slot<T>>();
        let table = &mut *self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.places += 1;
        let place = if order == Order::Prepend { -table.places } else { table.places };
        let fresh = || Box::new(Slot::<T> { name, mode, entries: BTreeMap::new(), list: OnceLock::new() });
        let slot: &mut dyn Any = &mut **table.slots.entry(key).or_insert_with(|| fresh());
        if let Some(slot) = slot.downcast_mut::<Slot<T>>() {
            admit(slot.entries.first_key_value().map(|(place, entry)| (*place, entry.plugin)))?;
            slot.entries.insert(place, entry);
            slot.list.take();
        }
        Ok((key, place))
    }
    /// Gives back what was removed: it is user code and must be dropped outside the lock.
    pub(crate) fn remove(&self, (key, place): (TypeId, i64)) -> Option<Box<dyn Any>> {
        self.table.write().unwrap_or_else(PoisonError::into_inner).slots.get_mut(&key)?.take(place)
    }
    fn slot<T: ?Sized + 'static, R>(&self, look: impl FnOnce(&Slot<T>) -> Option<R>) -> Option<R> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let slot: &dyn Any = &**table.slots.get(&TypeId::of::<Slot<T>>())?;
        look(slot.downcast_ref()?)
    }
    /// The listeners that hear an event dispatched here, outermost scope first.
    pub(crate) fn heard<T: ?Sized + 'static>(&self) -> Vec<List<T>> {
        let build = |slot: &Slot<T>| slot.entries.values().map(|entry| Arc::clone(&entry.value)).collect();
        let list = |slot: &Slot<T>| Some(Arc::clone(slot.list.get_or_init(|| build(slot))));
        let lists = self.chain().filter_map(|scope| scope.slot(list)).filter(|list| !list.is_empty());
        let mut lists: Vec<_> = lists.collect(); // allocates only when somebody listens
        lists.reverse();
        lists
    }
    /// The nearest entry that `pick` takes, and of one scope the last.
    pub(crate) fn nearest<T: ?Sized + 'static, R>(&self, pick: impl Fn(&Entry<T>) -> Option<R>) -> Option<R> {
        self.chain().find_map(|scope| scope.slot(|slot| slot.entries.values().rev().find_map(&pick)))
    }
    fn catalog<R>(&self, pick: impl Fn(&Scope, Description) -> Option<R>) -> Vec<R> {
        let mut all = Vec::new();
        for scope in self.chain() {
            let table = scope.table.read().unwrap_or_else(PoisonError::into_inner);
            let mut entries: Vec<_> = table.slots.values().flat_map(|slot| slot.describe()).collect();
            entries.sort_by_key(|(name, ..)| *name); // stable: the order of one event's listeners stays
            all.extend(entries.into_iter().filter_map(|entry| pick(scope, entry)));
        }
        all
    }
    /// The value of type `T` that is known, or the one that `fresh` brings.
    fn held<T: Send + Sync + 'static>(&self, fresh: Option<Arc<T>>) -> Option<Arc<T>> {
        let mut state = lock(&self.state);
        let Some(state) = &mut *state else { return fresh };
        if let (None, Some(value)) = (state.get(&TypeId::of::<T>()), fresh) {
            state.insert(TypeId::of::<T>(), value);
        }
        state.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }
}

impl Ctx {
    /// The listeners that hear events dispatched here, the nearest scope first.
    pub fn listeners(&self) -> Vec<ListenerInfo> {
        self.0.scope.catalog(|_, (event, mode, plugin)| Some(ListenerInfo { event, mode: mode?, plugin }))
    }
    /// The services that this scope sees, the nearest scope first.
    pub fn services(&self) -> Vec<ServiceInfo> {
        let info = |scope: &Scope, name, plugin| ServiceInfo { name, scope: scope.name.clone(), plugin };
        self.0.scope.catalog(|scope, (name, mode, plugin)| mode.is_none().then(|| info(scope, name, plugin)))
    }
    /// The value of type `T` that belongs to exactly this scope, made at its first use. Forks share it, inner
    /// scopes have their own. It is freed when the scope is disposed, after all cleanups; from then on each
    /// call gives a fresh value that nobody keeps.
    pub fn state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let scope = &self.0.scope;
        // Made outside the lock, because `default` is user code.
        scope.held(None).unwrap_or_else(|| scope.held(Some(Arc::default())).unwrap_or_default())
    }
    /// The values of type `T` of this scope and those around it, innermost first; scopes without one are skipped.
    pub fn state_chain<T: Send + Sync + 'static>(&self) -> Vec<Arc<T>> {
        self.0.scope.chain().filter_map(|scope| scope.held(None)).collect()
    }
}
