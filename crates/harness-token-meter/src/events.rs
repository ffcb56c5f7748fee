//! What the log says about use.
use harness_llm::{Purpose, Usage};
use harness_session::{EventClass, PluginEvent};
use serde::{Deserialize, Serialize};

use crate::cost::Cost;

/// `turn/usage`: what the turn that is about to end used and cost, and the whole session with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnUsage {
    /// The turn.
    pub turn: u32,
    /// Requests of the turn that were answered.
    pub requests: u32,
    /// Tokens of the turn.
    pub usage: Usage,
    /// US dollars of the turn; missing if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// What the turn's cost is made of.
    pub cost: Cost,
    /// Tokens of the session so far.
    pub session_usage: Usage,
    /// US dollars of the session so far; missing if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_usd: Option<f64>,
}
impl PluginEvent for TurnUsage {
    const TYPE: &'static str = "turn/usage";
    const CLASS: EventClass = EventClass::Execution;
}

/// `llm/usage`: what a model call outside a step used, for example a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallUsage {
    /// Why it was made.
    pub purpose: Purpose,
    /// The provider route.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Its tokens, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}
impl PluginEvent for CallUsage {
    const TYPE: &'static str = "llm/usage";
    const CLASS: EventClass = EventClass::Standalone;
}
