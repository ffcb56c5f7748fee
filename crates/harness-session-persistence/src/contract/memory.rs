//! A backend in memory, with faults on demand: the suite's own test, and a stand-in for tests of other crates.
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use harness_session::{Event, FORMAT_VERSION, Seq, SessionHeader, SessionId};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

use crate::error::{PersistenceError, Position};
use crate::known::KnownTypes;
use crate::lease::LeaseOwner;
use crate::loaded::check_log;
use crate::service::{Opened, SessionPersistence, Snapshot};
use crate::summary::{Listing, SessionSummary};
use crate::writer::{Durability, SessionWriter};

/// A fault of the next write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is stored.
    Full,
    /// What the device did not have yet is lost, older batches included.
    Sync,
    /// The writer panics.
    Panic,
}

/// One attempt to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The sequence numbers of the batch.
    pub events: Vec<Seq>,
    /// What was asked.
    pub durability: Durability,
    /// Whether it was stored.
    pub stored: bool,
}

struct Stored {
    header: SessionHeader,
    events: Vec<Arc<Event>>,
    /// How many of them would survive a power cut.
    synced: usize,
    modified: i64,
}
#[derive(Default)]
struct State {
    sessions: BTreeMap<SessionId, Stored>,
    leased: BTreeMap<SessionId, LeaseOwner>,
    faults: VecDeque<Fault>,
    writes: Vec<Write>,
    changes: i64,
}

/// Sessions in memory. Clones share them.
#[derive(Clone, Default)]
pub struct MemoryPersistence {
    state: Arc<Mutex<State>>,
    gate: Arc<RwLock<()>>,
}

impl MemoryPersistence {
    /// The next writes fail, one after the other.
    pub fn inject(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.extend(faults);
    }
    /// Forgets the faults that have not happened yet.
    pub fn mend(&self) {
        self.state().faults.clear();
    }
    /// Every attempt to write so far.
    pub fn writes(&self) -> Vec<Write> {
        self.state().writes.clone()
    }
    /// Writes wait until the guard is dropped.
    pub async fn hold_writes(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.gate).write_owned().await
    }
    /// What is stored of a session.
    pub fn stored(&self, id: SessionId) -> Vec<Arc<Event>> {
        self.state().sessions.get(&id).map_or_else(Vec::new, |stored| stored.events.clone())
    }
    /// Changes what is stored of a session, as damage would.
    pub fn tamper(&self, id: SessionId, change: impl FnOnce(&mut SessionHeader, &mut Vec<Arc<Event>>)) {
        if let Some(stored) = self.state().sessions.get_mut(&id) {
            change(&mut stored.header, &mut stored.events);
        }
    }
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn lease(&self, id: SessionId) -> Result<Lease, PersistenceError> {
        let mut state = self.state();
        if let Some(owner) = state.leased.get(&id) {
            return Err(PersistenceError::InUse { id, owner: Some(owner.clone()) });
        }
        state.leased.insert(id, LeaseOwner { pid: std::process::id(), host: None, since: None });
        Ok(Lease { id, store: self.clone() })
    }
    fn read(&self, id: SessionId) -> Result<(SessionHeader, Vec<Arc<Event>>), PersistenceError> {
        let state = self.state();
        let stored = state.sessions.get(&id).ok_or(PersistenceError::NotFound { id })?;
        Ok((stored.header.clone(), stored.events.clone()))
    }
}

struct Lease {
    id: SessionId,
    store: MemoryPersistence,
}
impl Drop for Lease {
    fn drop(&mut self) {
        self.store.state().leased.remove(&self.id);
    }
}

struct Writer {
    header: SessionHeader,
    next: Seq,
    lease: Lease,
}

#[async_trait]
impl SessionWriter for Writer {
    fn next_seq(&self) -> Seq {
        self.next
    }
    async fn append(
        &mut self,
        events: &[Arc<Event>],
        durability: Durability,
    ) -> Result<(), PersistenceError> {
        let _open = self.lease.store.gate.read().await;
        for (expected, event) in (self.next..).zip(events) {
            if event.seq != expected {
                return Err(PersistenceError::Sequence { expected, got: event.seq });
            }
        }
        let mut state = self.lease.store.state();
        let fault = state.faults.pop_front();
        let sequence = events.iter().map(|event| event.seq).collect();
        state.writes.push(Write { events: sequence, durability, stored: fault.is_none() });
        state.changes += 1;
        let modified = self.header.created_at + state.changes;
        let stored = match (state.sessions.entry(self.header.id), events.is_empty()) {
            (std::collections::btree_map::Entry::Vacant(_), true) => return Ok(()),
            (entry, _) => entry.or_insert_with(|| Stored {
                header: self.header.clone(),
                events: vec![],
                synced: 0,
                modified,
            }),
        };
        let failed = |source: io::ErrorKind| PersistenceError::Io {
            action: "write",
            location: "memory".to_owned(),
            source: source.into(),
        };
        match fault {
            None => {}
            Some(Fault::Full) => return Err(failed(io::ErrorKind::StorageFull)),
            Some(Fault::Panic) => panic!("the writer was told to panic"),
            Some(Fault::Sync) => {
                stored.events.truncate(stored.synced);
                self.next = stored.synced as Seq;
                return Err(failed(io::ErrorKind::Other));
            }
        }
        stored.events.extend(events.iter().map(Arc::clone));
        stored.modified = modified;
        if durability == Durability::Sync {
            stored.synced = stored.events.len();
        }
        self.next += events.len() as Seq;
        Ok(())
    }
    async fn close(self: Box<Self>) -> Result<(), PersistenceError> {
        Ok(())
    }
}

#[async_trait]
impl SessionPersistence for MemoryPersistence {
    async fn create(&self, header: SessionHeader) -> Result<Box<dyn SessionWriter>, PersistenceError> {
        let lease = self.lease(header.id)?;
        if self.state().sessions.contains_key(&header.id) {
            return Err(PersistenceError::AlreadyExists { id: header.id, location: "memory".to_owned() });
        }
        Ok(Box::new(Writer { header, next: 0, lease }))
    }
    async fn open(&self, id: SessionId, known: &KnownTypes) -> Result<Opened, PersistenceError> {
        let lease = self.lease(id)?;
        let (header, mut events) = self.read(id)?;
        let (closers, note) = check_log(&header, &events, known, "memory", event_at)?;
        let mut writer = Box::new(Writer { header: header.clone(), next: events.len() as Seq, lease });
        if !closers.is_empty() {
            writer.append(&closers, Durability::Sync).await?;
            events.extend(closers);
        }
        Ok(Opened { header, events, repairs: note.into_iter().collect(), writer })
    }
    async fn inspect(&self, id: SessionId, known: &KnownTypes) -> Result<Snapshot, PersistenceError> {
        let (header, mut events) = self.read(id)?;
        let (closers, note) = check_log(&header, &events, known, "memory", event_at)?;
        let stored = events.len() as Seq;
        events.extend(closers);
        Ok(Snapshot { header, events, stored, repairs: note.into_iter().collect() })
    }
    async fn list(&self) -> Result<Listing, PersistenceError> {
        let state = self.state();
        let readable = state.sessions.values().filter(|stored| stored.header.version <= FORMAT_VERSION);
        let mut sessions: Vec<_> = readable.map(summary).collect();
        sessions.sort_by_key(|session| std::cmp::Reverse((session.modified, session.header.id)));
        Ok(Listing { sessions, unreadable: vec![] })
    }
    async fn remove(&self, id: SessionId) -> Result<(), PersistenceError> {
        let _lease = self.lease(id)?;
        self.state().sessions.remove(&id).map(drop).ok_or(PersistenceError::NotFound { id })
    }
    fn locate(&self, id: SessionId) -> Option<String> {
        Some(format!("memory:{id}"))
    }
}

fn event_at(index: usize) -> Position {
    Position::Event(index as Seq)
}
fn summary(stored: &Stored) -> SessionSummary {
    let mut turns = 0;
    for event in &stored.events {
        turns += u32::from(matches!(event.body, harness_session::Body::TurnStart(_)));
    }
    SessionSummary {
        header: stored.header.clone(),
        modified: stored.modified,
        bytes: None,
        events: Some(stored.events.len() as Seq),
        turns: Some(turns),
        title: crate::summary::title(&stored.events),
    }
}
