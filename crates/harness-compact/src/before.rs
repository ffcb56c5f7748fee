//! The event before a compaction.
use std::sync::Arc;

use harness_agent::Agent;
use harness_kernel::{Event, Serial};
use harness_llm::Message;
use tokio_util::sync::CancellationToken;

use crate::compactor::Trigger;

/// `compact/before`: a range was chosen and nothing is replaced yet. The first listener that answers decides; without
/// an answer the compactor makes the summary itself.
#[derive(Clone)]
pub struct BeforeCompact {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// Why.
    pub trigger: Trigger,
    /// What would be replaced, oldest first.
    pub messages: Vec<Arc<Message>>,
    /// What it weighs, in tokens, by estimate.
    pub tokens: u64,
    /// Cancelled with the turn, or by whoever asked.
    pub cancel: CancellationToken,
}
impl Event for BeforeCompact {
    const NAME: &'static str = "compact/before";
}
impl Serial for BeforeCompact {
    type Answer = BeforeCompactDecision;
}

/// Answer to `compact/before`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeCompactDecision {
    /// Nothing is replaced.
    Reject {
        /// Why, for the log and the person.
        reason: String,
    },
    /// This text takes the place of the summary. It must weigh less than what it replaces.
    Summary(String),
}
