//! The `session-persistence` service.
use std::sync::Arc;

use async_trait::async_trait;
use harness_kernel::Service;
use harness_session::{Event, Seq, SessionHeader, SessionId};

use crate::error::PersistenceError;
use crate::health::{Fault, Health, RepairReport};
use crate::known::KnownTypes;
use crate::note::RepairNote;
use crate::summary::{Listing, SessionSummary};
use crate::writer::{Durability, SessionWriter};

/// A session that was opened for writing.
pub struct Opened {
    /// The header.
    pub header: SessionHeader,
    /// Every event, those that closed an open turn included.
    pub events: Vec<Arc<Event>>,
    /// What was mended; all of it is durable.
    pub repairs: Vec<RepairNote>,
    /// Appends after the last of `events`, and holds the lease.
    pub writer: Box<dyn SessionWriter>,
}
impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { header, events, repairs, writer } = self;
        f.debug_struct("Opened")
            .field("header", header)
            .field("events", &events.len())
            .field("repairs", repairs)
            .field("next_seq", &writer.next_seq())
            .finish()
    }
}

/// A session that was only read.
#[derive(Debug)]
pub struct Snapshot {
    /// The header.
    pub header: SessionHeader,
    /// Every event; those from `stored` on are not stored: they are what opening the session would add.
    pub events: Vec<Arc<Event>>,
    /// How many events are stored.
    pub stored: Seq,
    /// What opening the session would mend.
    pub repairs: Vec<RepairNote>,
}

/// Keeps sessions. One writer a session, over all processes and, where the backend is shared, all hosts.
///
/// A backend does the storing; [`check_log`](crate::check_log) and [`Recorder`](crate::Recorder) do the rest.
/// The smallest one, for a program that wants no storage:
///
/// ```
/// use std::sync::Arc;
/// use async_trait::async_trait;
/// use harness_session::{Event, Seq, SessionHeader, SessionId};
/// use harness_session_persistence::*;
///
/// struct Nowhere;
/// struct Sink(Seq);
/// #[async_trait]
/// impl SessionWriter for Sink {
///     fn next_seq(&self) -> Seq { self.0 }
///     async fn append(&mut self, events: &[Arc<Event>], _: Durability) -> Result<(), PersistenceError> {
///         self.0 += events.len() as Seq;
///         Ok(())
///     }
///     async fn close(self: Box<Self>) -> Result<(), PersistenceError> { Ok(()) }
/// }
/// #[async_trait]
/// impl SessionPersistence for Nowhere {
///     async fn create(&self, _: SessionHeader) -> Result<Box<dyn SessionWriter>, PersistenceError> {
///         Ok(Box::new(Sink(0)))
///     }
///     async fn open(&self, id: SessionId, _: &KnownTypes) -> Result<Opened, PersistenceError> {
///         Err(PersistenceError::NotFound { id })
///     }
///     async fn inspect(&self, id: SessionId, _: &KnownTypes) -> Result<Snapshot, PersistenceError> {
///         Err(PersistenceError::NotFound { id })
///     }
///     async fn list(&self) -> Result<Listing, PersistenceError> { Ok(Listing::default()) }
///     async fn remove(&self, id: SessionId) -> Result<(), PersistenceError> {
///         Err(PersistenceError::NotFound { id })
///     }
///     fn locate(&self, _: SessionId) -> Option<String> { None }
/// }
/// # let _: Arc<dyn SessionPersistence> = Arc::new(Nowhere);
/// ```
#[async_trait]
pub trait SessionPersistence: Send + Sync {
    /// Takes the lease of a new session. Nothing is stored until the first batch: a session without events does
    /// not exist. A taken identity is refused here or with the first batch.
    async fn create(&self, header: SessionHeader) -> Result<Box<dyn SessionWriter>, PersistenceError>;

    /// Takes the lease, reads the session and mends it: a fragment at the end is set aside, an open turn is
    /// closed. All of that is durable before this returns, and refused sessions are left as they are.
    async fn open(&self, id: SessionId, known: &KnownTypes) -> Result<Opened, PersistenceError>;

    /// Reads without the lease and without changing anything. Of a session in use it sees what is stored by now.
    async fn inspect(&self, id: SessionId, known: &KnownTypes) -> Result<Snapshot, PersistenceError>;

    /// All sessions, newest change first.
    async fn list(&self) -> Result<Listing, PersistenceError>;

    /// The session that changed last, of those with this working folder if one is given. Unreadable sessions are
    /// passed over.
    async fn latest(&self, cwd: Option<&str>) -> Result<Option<SessionSummary>, PersistenceError> {
        let fits = |session: &SessionSummary| cwd.is_none() || session.header.cwd.as_deref() == cwd;
        Ok(self.list().await?.sessions.into_iter().find(fits))
    }

    /// Deletes a session that nobody writes.
    async fn remove(&self, id: SessionId) -> Result<(), PersistenceError>;

    /// Looks for everything for which a session could not be opened, and says what opening it would mend. Changes
    /// nothing and needs no lease. A session that cannot be read is no error here but a finding.
    async fn check(&self, id: SessionId, known: &KnownTypes) -> Result<Health, PersistenceError> {
        match self.inspect(id, known).await {
            Ok(snapshot) => {
                let stored = usize::try_from(snapshot.stored).unwrap_or(usize::MAX);
                let stored = &snapshot.events[..stored.min(snapshot.events.len())];
                Ok(Health::of(stored, snapshot.repairs))
            }
            Err(error @ (PersistenceError::NotFound { .. } | PersistenceError::Io { .. })) => Err(error),
            Err(error) => Ok(Health { faults: vec![Fault::from(&error)], ..Health::default() }),
        }
    }

    /// Keeps what can be kept of a damaged session: the original stays beside it, what is not kept is set aside, and
    /// the session opens afterwards. Takes the lease. A session without faults, and one of a newer format, is left
    /// as it is; so is any with `dry_run`.
    async fn repair(
        &self,
        id: SessionId,
        known: &KnownTypes,
        dry_run: bool,
    ) -> Result<RepairReport, PersistenceError> {
        let _ = (known, dry_run);
        Err(PersistenceError::CannotRepair { id })
    }

    /// Where a session is or would be kept, in words for people. Does no input or output.
    fn locate(&self, id: SessionId) -> Option<String>;

    /// What a barrier asks for in this backend, as configured.
    fn durability(&self) -> Durability {
        Durability::Sync
    }
}
impl Service for dyn SessionPersistence {
    const NAME: &'static str = "session-persistence";
}
