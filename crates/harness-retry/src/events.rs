//! What the log says about retries.
use harness_session::{EventClass, PluginEvent};
use serde::{Deserialize, Serialize};

use crate::class::FailureClass;

/// `llm/retry`: a failed model call will be made again after a wait. Durable before the wait begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryScheduled {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The attempt that failed, counted from 1.
    pub attempt: u32,
    /// Which retry of the step this is, counted from 1.
    pub retry: u32,
    /// Most retries of the step.
    pub max_retries: u32,
    /// The provider route.
    pub provider: String,
    /// The failure's class.
    pub class: FailureClass,
    /// The failure's code.
    pub code: String,
    /// The failure in words.
    pub message: String,
    /// The wait, in milliseconds.
    pub wait_ms: u64,
    /// Whether the provider asked for that wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}
impl PluginEvent for RetryScheduled {
    const TYPE: &'static str = "llm/retry";
    const CLASS: EventClass = EventClass::Execution;
}

/// Why no further attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum StopReason {
    /// All retries of the step are used up.
    Exhausted,
    /// The provider asks for a longer wait than the settings allow.
    WaitTooLong {
        /// What it asks for, in milliseconds.
        asked_ms: u64,
    },
}

/// `llm/retry-stopped`: a call that could have been retried is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryStopped {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The attempt that failed, counted from 1.
    pub attempt: u32,
    /// How many retries the step has had.
    pub retries: u32,
    /// The provider route.
    pub provider: String,
    /// The failure's class.
    pub class: FailureClass,
    /// Why.
    pub reason: StopReason,
}
impl PluginEvent for RetryStopped {
    const TYPE: &'static str = "llm/retry-stopped";
    const CLASS: EventClass = EventClass::Execution;
}
