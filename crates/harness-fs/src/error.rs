//! Everything that a file operation can fail with.

use std::io;

use crate::{Denial, EditRefusal, FileKind, NotText};

/// Why a file operation did not happen. Nothing was changed, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FsError {
    /// Nothing is at that path.
    #[error("{path} does not exist")]
    NotFound {
        /// The path as asked for.
        path: String,
    },
    /// The path itself cannot be used.
    #[error("invalid path {path:?}: {reason}")]
    InvalidPath {
        /// The path as asked for.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A create-only write met something at its target.
    #[error("{path} already exists; read it first, then write it again to replace it")]
    AlreadyExists {
        /// The path as asked for.
        path: String,
    },
    /// A file was needed and a directory was found.
    #[error("{path} is a directory, not a file")]
    IsDirectory {
        /// The path as asked for.
        path: String,
    },
    /// A directory was needed and something else was found.
    #[error("{path} is not a directory")]
    NotDirectory {
        /// The path, or the part of it, that should be a directory.
        path: String,
    },
    /// Pipes, sockets and devices are never opened.
    #[error("{path} is not a regular file ({kind:?}): pipes, sockets and devices are never opened")]
    NotRegular {
        /// The path as asked for.
        path: String,
        /// What was found.
        kind: FileKind,
    },
    /// The file is not UTF-8 text.
    #[error("{path} is not a text file: {reason}")]
    NotText {
        /// The path as asked for.
        path: String,
        /// What was met, and where.
        reason: NotText,
    },
    /// The file is larger than the operation can hold in memory.
    #[error("{path} has {size} bytes, more than the {limit} that this operation can take")]
    TooLarge {
        /// The path as asked for.
        path: String,
        /// Its size in bytes; at least that much, if it grew meanwhile.
        size: u64,
        /// The largest size in bytes.
        limit: u64,
    },
    /// The file is no longer in the state that the caller relied on.
    #[error("{path} changed since it was read; read it again and repeat the change on what is there now")]
    Stale {
        /// The path as asked for.
        path: String,
    },
    /// A part of the resolved path was replaced, for instance by a link, between resolution and use.
    #[error("{path} no longer leads where it did when it was resolved; repeat the operation")]
    PathChanged {
        /// The path as asked for.
        path: String,
    },
    /// The edit does not apply.
    #[error("{path}: {refusal}")]
    Edit {
        /// The path as asked for.
        path: String,
        /// Why not.
        #[source]
        refusal: EditRefusal,
    },
    /// A policy said no.
    #[error("{0}")]
    Denied(Denial),
    /// A policy listener failed or panicked. The operation is refused: policy fails closed.
    #[error("refused, because a listener of {event} failed: {reason}")]
    PolicyFailed {
        /// Name of the event that was being decided.
        event: &'static str,
        /// What went wrong.
        reason: String,
    },
    /// The operating system refused. With the operation `sync the directory of`, the change has been made, and only a
    /// loss of power can still undo it.
    #[error("cannot {operation} {path}: {source}")]
    Io {
        /// The path as asked for.
        path: String,
        /// What was being done, for instance `read`.
        operation: &'static str,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A write in place failed half-way **and** the old bytes could not be put back: the content is undefined.
    #[error("cannot {operation} {path}: {source}; its old content could not be restored")]
    Damaged {
        /// The path as asked for.
        path: String,
        /// What was being done.
        operation: &'static str,
        /// The first failure.
        #[source]
        source: io::Error,
    },
    /// A defect of the provider.
    #[error("internal error while working on {path}: {reason}")]
    Internal {
        /// The path as asked for.
        path: String,
        /// What went wrong.
        reason: String,
    },
}

impl FsError {
    /// A stable identifier for programs; the text of the message may change, this does not.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "FS_NOT_FOUND",
            Self::InvalidPath { .. } => "FS_INVALID_PATH",
            Self::AlreadyExists { .. } => "FS_ALREADY_EXISTS",
            Self::IsDirectory { .. } => "FS_IS_DIRECTORY",
            Self::NotDirectory { .. } => "FS_NOT_DIRECTORY",
            Self::NotRegular { .. } => "FS_NOT_REGULAR",
            Self::NotText { .. } => "FS_NOT_TEXT",
            Self::TooLarge { .. } => "FS_TOO_LARGE",
            Self::Stale { .. } => "FS_STALE",
            Self::PathChanged { .. } => "FS_PATH_CHANGED",
            Self::Edit { refusal, .. } => refusal.code(),
            Self::Denied(denial) => denial.code(),
            Self::PolicyFailed { .. } => "FS_POLICY_FAILED",
            Self::Io { .. } => "FS_IO",
            Self::Damaged { .. } => "FS_DAMAGED",
            Self::Internal { .. } => "FS_INTERNAL",
        }
    }
}
