//! What the log says about compaction.
use harness_session::{EventClass, PluginEvent, Seq};
use serde::{Deserialize, Serialize};

use crate::compactor::Trigger;

/// `compact/begin`: a range was chosen. The history is unchanged until the message that replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactBegin {
    /// Pairs begin and end within the session: the number of the compaction, counted from 1.
    pub compaction: u32,
    /// Why.
    pub trigger: Trigger,
    /// First event of the range on the surface.
    pub first: Seq,
    /// Last event of the range on the surface.
    pub last: Seq,
    /// How many events on the surface the range holds.
    pub events: u32,
    /// What the range weighs, in tokens, by estimate.
    pub tokens: u64,
    /// What the next request would weigh.
    pub before: u64,
}
impl PluginEvent for CompactBegin {
    const TYPE: &'static str = "compact/begin";
    const CLASS: EventClass = EventClass::Standalone;
}

/// How a compaction ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CompactOutcome {
    /// The range is replaced.
    Done {
        /// The event that took its place.
        replacement: Seq,
        /// What the next request weighs now.
        after: u64,
        /// Whether a listener supplied the summary.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        supplied: bool,
    },
    /// The history is as it was.
    Failed {
        /// Stable code.
        code: String,
        /// For people.
        message: String,
    },
}

/// `compact/end`: the compaction is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactEnd {
    /// The compaction.
    pub compaction: u32,
    /// How it ended.
    pub outcome: CompactOutcome,
}
impl PluginEvent for CompactEnd {
    const TYPE: &'static str = "compact/end";
    const CLASS: EventClass = EventClass::Standalone;
}

/// `compact/pruned`: the middle of long tool results was taken out of the history, without a model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactPruned {
    /// Why.
    pub trigger: Trigger,
    /// How many results were shortened.
    pub results: u32,
    /// What the next request weighed before.
    pub before: u64,
    /// What it weighs now.
    pub after: u64,
}
impl PluginEvent for CompactPruned {
    const TYPE: &'static str = "compact/pruned";
    const CLASS: EventClass = EventClass::Standalone;
}
