//! Storage trouble as events, heard in the session's context.
use std::sync::Arc;

use harness_kernel::{Event, Notice};
use harness_session::{Seq, SessionId};

use crate::error::PersistenceError;

/// `session/storage-failed`: events could not be stored. They stay in memory and are tried again with the next
/// event or barrier. Said once for each new reason until storage recovers.
#[derive(Debug, Clone)]
pub struct StorageFailed {
    /// The session.
    pub session: SessionId,
    /// Why.
    pub error: Arc<PersistenceError>,
    /// How many events wait.
    pub waiting: Seq,
}
impl Event for StorageFailed {
    const NAME: &'static str = "session/storage-failed";
}
impl Notice for StorageFailed {}

/// `session/storage-recovered`: everything that had waited is stored.
#[derive(Debug, Clone)]
pub struct StorageRecovered {
    /// The session.
    pub session: SessionId,
}
impl Event for StorageRecovered {
    const NAME: &'static str = "session/storage-recovered";
}
impl Notice for StorageRecovered {}
