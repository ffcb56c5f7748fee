//! The event after a compaction.
use std::sync::Arc;

use harness_agent::{Agent, ListenerError};
use harness_kernel::{Event, Parallel};

use crate::compactor::{Compacted, Trigger};

/// `compact/after`: older history was replaced, and the log says so. Awaited, so that what a listener injects is there
/// for the next step; it cannot undo anything. What fails is told on `agent/notice`.
#[derive(Clone)]
pub struct AfterCompact {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// Why.
    pub trigger: Trigger,
    /// The summary, without what stands around it in the history.
    pub summary: Arc<str>,
    /// What it came to.
    pub compacted: Compacted,
}
impl Event for AfterCompact {
    const NAME: &'static str = "compact/after";
}
impl Parallel for AfterCompact {
    type Error = ListenerError;
}
