//! The listeners of one scope. The only place where listener lists are type-erased.
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};

use crate::event::{Event, Mode, Order};
use crate::panic::{read, write};

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

/// What a dispatch walks: cloned in one step, so that no lock is held while listeners run.
pub(crate) type List<L> = Arc<[Arc<L>]>;

struct Slot<L: ?Sized> {
    event: &'static str,
    mode: Mode,
    /// Keyed by position, so that a removal finds its entry without a scan.
    entries: BTreeMap<i64, (Option<&'static str>, Arc<L>)>,
    /// Forgotten by each change and built again by the next dispatch.
    list: Option<List<L>>,
}

trait AnySlot: Any + Send + Sync {
    fn remove(&mut self, at: i64) -> Option<Box<dyn Any + Send>>;
    fn is_empty(&self) -> bool;
    fn describe(&self, into: &mut Vec<ListenerInfo>);
}
impl<L: ?Sized + Send + Sync + 'static> AnySlot for Slot<L> {
    fn remove(&mut self, at: i64) -> Option<Box<dyn Any + Send>> {
        self.list = None;
        self.entries.remove(&at).map(|(_, call)| Box::new(call) as Box<dyn Any + Send>)
    }
    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    fn describe(&self, into: &mut Vec<ListenerInfo>) {
        let (event, mode) = (self.event, self.mode);
        into.extend(self.entries.values().map(|(plugin, _)| ListenerInfo { event, mode, plugin: *plugin }));
    }
}

/// Where a listener sits; enough to remove it.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    key: TypeId,
    at: i64,
}

#[derive(Default)]
struct Table {
    slots: HashMap<TypeId, Box<dyn AnySlot>>,
    first: i64,
    last: i64,
}

#[derive(Default)]
pub(crate) struct Listeners(RwLock<Table>);

impl Listeners {
    /// `L` is the listener's `dyn Fn` type; it names the event and is the key.
    pub(crate) fn insert<E: Event, L: ?Sized + Send + Sync + 'static>(
        &self,
        mode: Mode,
        order: Order,
        plugin: Option<&'static str>,
        call: Arc<L>,
    ) -> Position {
        let key = TypeId::of::<Slot<L>>();
        let mut table = write(&self.0);
        let at = match order {
            Order::Append => {
                table.last += 1;
                table.last
            }
            Order::Prepend => {
                table.first -= 1;
                table.first
            }
        };
        let fresh = || Box::new(Slot::<L> { event: E::NAME, mode, entries: BTreeMap::new(), list: None });
        let slot: &mut dyn Any = &mut **table.slots.entry(key).or_insert_with(|| fresh());
        if let Some(slot) = slot.downcast_mut::<Slot<L>>() {
            slot.entries.insert(at, (plugin, call));
            slot.list = None;
        }
        Position { key, at }
    }

    /// Gives back what was removed: it is user code and must be dropped outside the lock.
    pub(crate) fn remove(&self, position: Position) -> Option<Box<dyn Any + Send>> {
        let mut table = write(&self.0);
        let slot = table.slots.get_mut(&position.key)?;
        let removed = slot.remove(position.at);
        if slot.is_empty() {
            table.slots.remove(&position.key);
        }
        removed
    }

    /// The listeners of one kind, in order. `None`, without allocating, when there are none.
    pub(crate) fn list<L: ?Sized + Send + Sync + 'static>(&self) -> Option<List<L>> {
        let key = TypeId::of::<Slot<L>>();
        let table = read(&self.0);
        let slot: &dyn Any = &**table.slots.get(&key)?;
        if let Some(list) = &slot.downcast_ref::<Slot<L>>()?.list {
            return Some(Arc::clone(list));
        }
        drop(table);
        let mut table = write(&self.0);
        let slot: &mut dyn Any = &mut **table.slots.get_mut(&key)?;
        let Slot { entries, list, .. } = slot.downcast_mut::<Slot<L>>()?;
        let built = list.get_or_insert_with(|| entries.values().map(|(_, call)| Arc::clone(call)).collect());
        Some(Arc::clone(built))
    }

    pub(crate) fn describe(&self, into: &mut Vec<ListenerInfo>) {
        read(&self.0).slots.values().for_each(|slot| slot.describe(into));
    }
}
