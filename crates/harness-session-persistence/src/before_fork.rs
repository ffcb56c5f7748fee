//! The event before a fork.
use std::sync::Arc;

use harness_kernel::{Event as KernelEvent, Serial};
use harness_session::{Event, SessionHeader};

/// `session/before-fork`: a point was chosen and nothing is stored yet. Dispatched in the scope that the fork will live
/// in. The first listener that answers decides; without an answer the fork is made.
#[derive(Debug, Clone)]
pub struct BeforeFork {
    /// The session that is forked. It stays as it is.
    pub parent: SessionHeader,
    /// The last turn that the fork keeps.
    pub turn: u32,
    /// What the fork keeps, oldest first.
    pub kept: Arc<[Arc<Event>]>,
    /// What the fork leaves behind, oldest first.
    pub left: Arc<[Arc<Event>]>,
}
impl KernelEvent for BeforeFork {
    const NAME: &'static str = "session/before-fork";
}
impl Serial for BeforeFork {
    type Answer = BeforeForkDecision;
}

/// Answer to `session/before-fork`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeForkDecision {
    /// No fork is made.
    Reject {
        /// Why, for the person.
        reason: String,
    },
    /// The fork is made, and this text about what it leaves behind enters with its first step.
    Summary(String),
}
