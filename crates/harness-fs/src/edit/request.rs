//! What an edit asks for and what it did.

use super::Hunk;
use crate::{FsError, ResolvedPath, Version};

/// A request to replace literal text in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRequest {
    /// Which file; it must exist.
    pub path: ResolvedPath,
    /// The text to replace. It must occur exactly once, unless `replace_all` is set.
    pub old: String,
    /// The text to put there.
    pub new: String,
    /// Whether every occurrence is replaced.
    pub replace_all: bool,
    /// The state that the file must still be in, checked before anything is matched.
    pub expected: Option<Version>,
}

impl EditRequest {
    /// An unguarded edit of a single occurrence.
    pub fn new(path: ResolvedPath, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self { path, old: old.into(), new: new.into(), replace_all: false, expected: None }
    }

    /// The same edit for every occurrence.
    #[must_use]
    pub fn replacing_all(mut self, replace_all: bool) -> Self {
        self.replace_all = replace_all;
        self
    }

    /// The same edit, only if the file is still in this state.
    #[must_use]
    pub fn expecting(mut self, expected: Option<Version>) -> Self {
        self.expected = expected;
        self
    }

    /// Compares the guard with the state that a provider found.
    ///
    /// # Errors
    /// `FS_STALE` when they differ.
    pub fn check_version(&self, found: &Version) -> Result<(), FsError> {
        match &self.expected {
            Some(expected) if expected != found => {
                Err(FsError::Stale { path: self.path.display().to_owned() })
            }
            _ => Ok(()),
        }
    }
}

/// What an edit changed, for people and models to look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// How many occurrences were replaced.
    pub replacements: usize,
    /// Lines of the edited file, counted from one, at which the first [`MAX_REPORTED_LINES`](super::MAX_REPORTED_LINES)
    /// replacements start.
    pub lines: Vec<u64>,
    /// The changed lines in their context, from the top of the file.
    pub hunks: Vec<Hunk>,
    /// Whether further hunks were left out to keep the outcome small.
    pub hunks_truncated: bool,
}

/// What an edit did to the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditOutcome {
    /// The state after the edit.
    pub version: Version,
    /// What changed.
    pub changes: Changes,
}
