//! What can be wrong with the database as a whole, and how `SQLite`'s words become ours.
use std::io;
use std::path::Path;

use harness_session_persistence::PersistenceError;
use rusqlite::ErrorCode;

use crate::database::SCHEMA_VERSION;

/// The database cannot be used. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// A newer build made it.
    #[error(
        "{location} uses database version {found}, and this build reads up to {SCHEMA_VERSION}; update harness to use it"
    )]
    Newer {
        /// The file.
        location: String,
        /// The version found.
        found: i64,
    },
    /// It is not a database of sessions, or its pages are damaged.
    #[error(
        "{location} is damaged, or is no database: {detail}; put it aside, and take what can be read with `sqlite3 {location} .recover`"
    )]
    Damaged {
        /// The file.
        location: String,
        /// What `SQLite` said.
        detail: String,
    },
    /// Another program keeps it locked.
    #[error("{location} is locked by another program: {detail}; try again when that one is done")]
    Busy {
        /// The file.
        location: String,
        /// What `SQLite` said.
        detail: String,
    },
    /// Anything else that `SQLite` says.
    #[error("cannot {action} {location}: {detail}")]
    Other {
        /// What was tried.
        action: &'static str,
        /// The file.
        location: String,
        /// What `SQLite` said.
        detail: String,
    },
}
impl From<DatabaseError> for PersistenceError {
    fn from(error: DatabaseError) -> Self {
        Self::Backend(Box::new(error))
    }
}

/// Says what was tried on which database.
pub(crate) fn sql(action: &'static str, path: &Path) -> impl Fn(rusqlite::Error) -> PersistenceError + use<> {
    let location = path.display().to_string();
    move |error| {
        let (location, detail) = (location.clone(), error.to_string());
        let io = |kind| PersistenceError::Io {
            action,
            location: location.clone(),
            source: io::Error::new(kind, detail.clone()),
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => io(io::ErrorKind::StorageFull),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => io(io::ErrorKind::PermissionDenied),
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => io(io::ErrorKind::Other),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                DatabaseError::Damaged { location, detail }.into()
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                DatabaseError::Busy { location, detail }.into()
            }
            _ => DatabaseError::Other { action, location, detail }.into(),
        }
    }
}

/// Says what was tried on which path.
pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PersistenceError + use<> {
    let location = path.display().to_string();
    move |source| PersistenceError::Io { action, location, source }
}
