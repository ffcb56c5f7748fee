//! The writer of one session.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use harness_session::{Body, Event, Seq, SessionHeader, encode_header};
use harness_session_persistence::{Durability, PersistenceError, SessionWriter, title};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::database::Place;
use crate::error::sql;
use crate::lease::Lease;
use crate::row::EventRow;
use crate::thread::WriterThread;

struct State {
    header: SessionHeader,
    next: Seq,
    /// Nothing is stored yet.
    fresh: bool,
    /// Commits that the device may not have yet.
    unsynced: bool,
    _lease: Lease,
}

/// The state is shared with the work in flight, so that a dropped future leaves the two in step.
pub(crate) struct SqliteWriter {
    thread: Arc<WriterThread>,
    state: Arc<Mutex<State>>,
}

impl SqliteWriter {
    /// Brings a session into being with its first batch.
    pub(crate) fn new(thread: Arc<WriterThread>, lease: Lease, header: SessionHeader) -> Self {
        Self::with(thread, State { header, next: 0, fresh: true, unsynced: false, _lease: lease })
    }
    /// Goes on behind what is stored; the device may not have it.
    pub(crate) fn behind(thread: Arc<WriterThread>, lease: Lease, header: SessionHeader, next: Seq) -> Self {
        Self::with(thread, State { header, next, fresh: false, unsynced: true, _lease: lease })
    }
    fn with(thread: Arc<WriterThread>, state: State) -> Self {
        Self { thread, state: Arc::new(Mutex::new(state)) }
    }
}

#[async_trait]
impl SessionWriter for SqliteWriter {
    fn next_seq(&self) -> Seq {
        lock(&self.state).next
    }
    async fn append(
        &mut self,
        events: &[Arc<Event>],
        durability: Durability,
    ) -> Result<(), PersistenceError> {
        let (state, events) = (Arc::clone(&self.state), events.to_vec());
        self.thread
            .run(move |connection, place| lock(&state).append(connection, place, &events, durability))
            .await
    }
    async fn close(self: Box<Self>) -> Result<(), PersistenceError> {
        // The work in flight, if a future was dropped, keeps the lease until it is done.
        drop(self);
        Ok(())
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn append(
        &mut self,
        connection: &mut Connection,
        place: &Place,
        events: &[Arc<Event>],
        durability: Durability,
    ) -> Result<(), PersistenceError> {
        let sync = durability >= Durability::Sync;
        if events.is_empty() && (self.fresh || !sync || !self.unsynced) {
            return Ok(());
        }
        let rows = EventRow::all(self.next, events)?;
        place.synchronous(connection, durability)?;
        let failed = sql("write to", &place.file());
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        self.session(&transaction, place, events, &rows)?;
        insert(&transaction, &self.header, &rows).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
        self.next += events.len() as Seq;
        self.fresh = false;
        self.unsynced = !sync;
        Ok(())
    }

    /// Brings the session's own row up to date, if it stands where this writer left it.
    fn session(
        &self,
        transaction: &Transaction<'_>,
        place: &Place,
        events: &[Arc<Event>],
        rows: &[EventRow],
    ) -> Result<(), PersistenceError> {
        let failed = sql("write to", &place.file());
        let id = self.header.id.to_string();
        let stored = transaction
            .query_row("SELECT events FROM sessions WHERE id = ?1", [&id], |row| row.get::<_, i64>(0))
            .optional()
            .map_err(&failed)?;
        let location = place.file().display().to_string();
        let expected = i64::try_from(self.next).unwrap_or(i64::MAX);
        match stored {
            Some(_) if self.fresh => {
                return Err(PersistenceError::AlreadyExists { id: self.header.id, location });
            }
            None if self.fresh => {
                let header = encode_header(&self.header)
                    .map_err(|source| PersistenceError::Encode { seq: 0, source })?;
                let insert = "INSERT INTO sessions VALUES (?1, ?2, ?3, 0, 0, 0, ?4, NULL)";
                let bytes = i64::try_from(header.len()).unwrap_or(i64::MAX);
                transaction.execute(insert, params![id, header, self.header.cwd, bytes]).map_err(&failed)?;
            }
            None => {
                return Err(PersistenceError::Stale {
                    location,
                    detail: format!("session {id} was deleted"),
                });
            }
            Some(stored) if stored != expected => {
                let detail = format!("session {id} has {stored} events instead of {expected}");
                return Err(PersistenceError::Stale { location, detail });
            }
            Some(_) => {}
        }
        let turns = events.iter().filter(|event| matches!(event.body, Body::TurnStart(_))).count();
        let update =
            "UPDATE sessions SET modified = MAX(modified, ?2), events = events + ?3, turns = turns + ?4,
                      bytes = bytes + ?5, title = COALESCE(title, ?6) WHERE id = ?1";
        let bytes: i64 = rows.iter().map(EventRow::bytes).sum();
        let (events_count, turns) = (int(rows.len()), int(turns));
        // A barrier alone is no change; the row is written all the same, so that there is something to commit.
        let changed = if rows.is_empty() { 0 } else { now() };
        transaction
            .execute(update, params![id, changed, events_count, turns, bytes, title(events)])
            .map_err(&failed)?;
        Ok(())
    }
}

fn insert(transaction: &Transaction<'_>, header: &SessionHeader, rows: &[EventRow]) -> rusqlite::Result<()> {
    let id = header.id.to_string();
    let mut statement =
        transaction.prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for row in rows {
        let EventRow { seq, kind, time, data, sources, surface, required } = row;
        statement.execute(params![id, seq, kind, time, data, sources, surface, required])?;
    }
    Ok(())
}

fn int(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Milliseconds since the Unix epoch.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
