//! Hooks in the session log.
use harness_hooks::{Decision, Fault, HookRef, Run};
use harness_session::{EventClass, PluginEvent};
use serde::{Deserialize, Serialize};

/// `hook/invoked`: a hook is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookInvoked {
    /// The hook.
    pub hook: HookRef,
    /// The event.
    pub event: String,
    /// What it is about, such as the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The tool call that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}
impl PluginEvent for HookInvoked {
    const TYPE: &'static str = "hook/invoked";
    const CLASS: EventClass = EventClass::Standalone;
}

/// `hook/result`: what a hook came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HookResult {
    /// The hook.
    pub hook: HookRef,
    /// The event.
    pub event: String,
    /// Its decision, if it made one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it halted the turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// Exit code of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The beginning of what it complained about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Why it could not do its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
    /// What the person was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Whether processes that it started go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_behind: bool,
}
impl PluginEvent for HookResult {
    const TYPE: &'static str = "hook/result";
    const CLASS: EventClass = EventClass::Standalone;
}
impl HookResult {
    pub(crate) fn of(run: &Run) -> Self {
        let outcome = &run.outcome;
        Self {
            hook: run.hook.clone(),
            event: run.event.name().to_owned(),
            decision: outcome.answer.decision,
            reason: outcome.answer.reason.clone(),
            stop: outcome.answer.stop,
            exit_code: outcome.exit_code,
            stderr: outcome.stderr.clone(),
            duration_ms: run.duration_ms,
            error: run.error.clone(),
            warnings: run.warnings.clone(),
            left_behind: outcome.left_behind,
        }
    }
}
