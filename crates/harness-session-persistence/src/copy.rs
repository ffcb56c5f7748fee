//! A session from one backend into another, without loss.
use harness_session::{Seq, SessionId};

use crate::error::PersistenceError;
use crate::known::KnownTypes;
use crate::service::SessionPersistence;
use crate::writer::Durability;

/// Copies a session as it is stored: every event, those of unknown types byte for byte, an open turn open. Returns how
/// many events it has. Of a session in use it copies what is stored by now.
///
/// # Errors
/// If the session cannot be read, or the other backend has one of this identity already: nothing is overwritten, and
/// nothing is stored.
pub async fn copy_session(
    from: &dyn SessionPersistence,
    to: &dyn SessionPersistence,
    id: SessionId,
    known: &KnownTypes,
) -> Result<Seq, PersistenceError> {
    let snapshot = from.inspect(id, known).await?;
    let stored = usize::try_from(snapshot.stored).unwrap_or(usize::MAX).min(snapshot.events.len());
    let mut writer = to.create(snapshot.header).await?;
    writer.append(&snapshot.events[..stored], Durability::Sync).await?;
    writer.close().await?;
    Ok(snapshot.stored)
}
