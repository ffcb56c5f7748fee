//! The one writer of a session.
use std::sync::Arc;

use async_trait::async_trait;
use harness_session::{Event, Seq};
use serde::{Deserialize, Serialize};

use crate::error::PersistenceError;

/// How safe events are once they are acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// They survive the end of the process: the operating system has them.
    Write,
    /// They survive a power cut: the device has them.
    #[default]
    Sync,
}

/// Appends to one session and holds its writer lease.
///
/// Dropping it gives the lease back as well, without a word about the outcome; and so does the end of the process,
/// however it ends.
#[async_trait]
pub trait SessionWriter: Send {
    /// The sequence number of the event that must come next.
    fn next_seq(&self) -> Seq;

    /// Stores a batch at the end, in order, all or nothing, as safe as asked. An empty batch makes what was stored
    /// before as safe as asked.
    ///
    /// The first batch of a new session brings it into being; before it nothing is stored at all.
    ///
    /// After an error the writer stands where [`SessionWriter::next_seq`] says: all events from there on must be
    /// appended again. That can be earlier than this batch, when events that the system had taken did not reach
    /// the device.
    ///
    /// Dropping the future does not break the writer, but whether the batch was stored is then told by
    /// [`SessionWriter::next_seq`] only.
    async fn append(&mut self, events: &[Arc<Event>], durability: Durability)
    -> Result<(), PersistenceError>;

    /// Gives the lease back.
    async fn close(self: Box<Self>) -> Result<(), PersistenceError>;
}
