//! The events themselves.

use std::path::PathBuf;

use harness_kernel::{Around, Event, Notice};
use serde::{Deserialize, Serialize};

use super::{EditDecision, FileAccess, Owner, ReadDecision, WriteDecision};
use crate::{FsError, Version};

/// A whole-file write is about to happen.
///
/// Only [`FileAccess::may_write`] makes one, and it accepts no other than its own back: a listener decides about the
/// path that was resolved and can put no other in its place. A listener that does not object returns
/// `decision.and(next.run(intent).await?)`, so that the narrowest decision wins. No listener at all means: allowed.
#[derive(Debug, Clone)]
pub struct WriteIntent(pub(super) FileAccess);

/// An edit is about to happen. Made by [`FileAccess::may_edit`] alone, as [`WriteIntent`] is by its own method.
#[derive(Debug, Clone)]
pub struct EditIntent(pub(super) FileAccess);

/// A read is about to happen. Made by [`FileAccess::may_read`] alone, as [`WriteIntent`] is by its own method.
#[derive(Debug, Clone)]
pub struct ReadIntent(pub(super) FileAccess);

impl WriteIntent {
    /// Who wants to write where.
    pub fn access(&self) -> &FileAccess {
        &self.0
    }
}

impl EditIntent {
    /// Who wants to edit what.
    pub fn access(&self) -> &FileAccess {
        &self.0
    }
}

impl ReadIntent {
    /// Who wants to read what.
    pub fn access(&self) -> &FileAccess {
        &self.0
    }
}

impl Event for WriteIntent {
    const NAME: &'static str = "fs/write-intent";
}
impl Around for WriteIntent {
    type Output = Result<WriteDecision, FsError>;
}

impl Event for EditIntent {
    const NAME: &'static str = "fs/edit-intent";
}
impl Around for EditIntent {
    type Output = Result<EditDecision, FsError>;
}

impl Event for ReadIntent {
    const NAME: &'static str = "fs/read-intent";
}
impl Around for ReadIntent {
    type Output = Result<ReadDecision, FsError>;
}

/// What an owner found at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// A file in this state.
    Present(Version),
    /// Nothing.
    Absent,
}

/// An owner has seen a file: it read it, found nothing there, or made the content itself.
///
/// Emitted after each read, write and edit by whoever carries it out, and again on resume for what the log tells: the
/// policy needs nothing else to know again what it knew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// Who saw it.
    pub owner: Owner,
    /// The resolved path.
    pub path: PathBuf,
    /// What was there.
    pub seen: Seen,
}

impl Event for Observed {
    const NAME: &'static str = "fs/observed";
}
impl Notice for Observed {}
