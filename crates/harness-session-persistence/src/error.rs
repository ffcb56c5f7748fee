//! What can go wrong when sessions are kept, with the remedy in the text.
use std::fmt;
use std::io;

use harness_session::{FORMAT_VERSION, Seq, SessionId};

use crate::lease::LeaseOwner;

/// Where in a stored session something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Position {
    /// In a text file.
    Line {
        /// The line, counted from 1.
        line: u64,
        /// The byte offset of the line's start, counted from 0.
        byte: u64,
    },
    /// In a table, or in a list of events.
    Event(Seq),
}
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, byte } => write!(f, "line {line} (byte {byte})"),
            Self::Event(seq) => write!(f, "event {seq}"),
        }
    }
}

/// Why a session could not be stored, opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PersistenceError {
    /// Nothing is stored under this identity.
    #[error("session {id} does not exist; `harness sessions list` shows those that do")]
    NotFound {
        /// The session.
        id: SessionId,
    },
    /// A new session's identity is taken.
    #[error("session {id} already exists at {location}; resume it instead of creating it")]
    AlreadyExists {
        /// The session.
        id: SessionId,
        /// Where it is kept.
        location: String,
    },
    /// Somebody else writes this session.
    #[error(
        "session {id} is in use by {}; end that one first, or go on in a fork (`harness run --resume {id} --fork`)",
        .owner.as_ref().map_or("another process".to_owned(), ToString::to_string)
    )]
    InUse {
        /// The session.
        id: SessionId,
        /// Who, if it could be found out.
        owner: Option<LeaseOwner>,
    },
    /// What is stored is not a session log. Nothing was changed.
    #[error(
        "session {id} is damaged: {location}, {position}: {detail}; `harness sessions repair {id}` keeps all that can be read"
    )]
    Corrupt {
        /// The session.
        id: SessionId,
        /// Where it is kept.
        location: String,
        /// Where in it the damage is.
        position: Position,
        /// What is wrong.
        detail: String,
    },
    /// A newer build wrote it. Nothing was changed.
    #[error(
        "session {id} uses format version {found}, and this build reads up to {FORMAT_VERSION}; update harness to open {location}"
    )]
    NewerFormat {
        /// The session.
        id: SessionId,
        /// Where it is kept.
        location: String,
        /// The version found.
        found: u32,
    },
    /// An event that must be understood is not. Nothing was changed.
    #[error(
        "session {id} needs a plugin that knows the event type `{event_type}` (event {seq}); enable the plugin that wrote it"
    )]
    UnknownRequiredEvent {
        /// The session.
        id: SessionId,
        /// The type.
        event_type: String,
        /// The event.
        seq: Seq,
    },
    /// Storage failed. What was to be written stays with the caller, who may try again.
    #[error("cannot {action} {location}: {source}")]
    Io {
        /// What was tried, such as `write`.
        action: &'static str,
        /// Where.
        location: String,
        /// What the system said.
        source: io::Error,
    },
    /// What is stored changed under the writer that holds the lease; nothing was written.
    #[error("{location} was changed by another program: {detail}; nothing was written to it")]
    Stale {
        /// Where the session is kept.
        location: String,
        /// What was found.
        detail: String,
    },
    /// A batch does not follow what is stored; nothing was written.
    #[error("event {got} cannot be stored: the next one is event {expected}")]
    Sequence {
        /// The sequence number that fits.
        expected: Seq,
        /// The one that came.
        got: Seq,
    },
    /// An event has no stored form; nothing was written.
    #[error("event {seq} cannot be stored: {source}")]
    Encode {
        /// The event.
        seq: Seq,
        /// What the serializer said.
        source: serde_json::Error,
    },
    /// The session's recorder has ended.
    #[error("session {id} is not recorded any more: {detail}")]
    Closed {
        /// The session.
        id: SessionId,
        /// Why.
        detail: String,
    },
    /// This backend has no way to take a damaged session apart.
    #[error("the backend of session {id} cannot repair sessions; restore it from a backup")]
    CannotRepair {
        /// The session.
        id: SessionId,
    },
    /// A backend's own failure.
    #[error("{0}")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl PersistenceError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "SESSION_NOT_FOUND",
            Self::AlreadyExists { .. } => "SESSION_EXISTS",
            Self::InUse { .. } => "SESSION_IN_USE",
            Self::Corrupt { .. } => "SESSION_CORRUPT",
            Self::NewerFormat { .. } => "SESSION_NEWER_FORMAT",
            Self::UnknownRequiredEvent { .. } => "SESSION_UNKNOWN_EVENT",
            Self::Io { .. } => "SESSION_IO",
            Self::Stale { .. } => "SESSION_STALE",
            Self::Sequence { .. } => "SESSION_SEQUENCE",
            Self::Encode { .. } => "SESSION_ENCODE",
            Self::Closed { .. } => "SESSION_CLOSED",
            Self::CannotRepair { .. } => "SESSION_CANNOT_REPAIR",
            Self::Backend(_) => "SESSION_BACKEND",
        }
    }
}
