//! Hooks in the session log.
use std::sync::Arc;

use harness_agent::Agent;
use harness_hooks::{Decision, Fault, FaultKind, HookEntry, HookEvent, HookRef, Run};
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

/// Hooks that were started and whose results are not in the log yet. If the caller is dropped with its turn, they were
/// killed, and the log says so.
pub(crate) struct Unfinished {
    agent: Arc<dyn Agent>,
    hooks: Vec<(HookRef, HookEvent)>,
}
impl Unfinished {
    pub(crate) fn new(agent: &Arc<dyn Agent>, started: &[(&HookEntry, HookEvent)]) -> Self {
        let hooks = started.iter().map(|(entry, event)| (entry.reference(), *event)).collect();
        Self { agent: Arc::clone(agent), hooks }
    }
    /// The results are there.
    pub(crate) fn finish(mut self) {
        self.hooks.clear();
    }
}
impl Drop for Unfinished {
    fn drop(&mut self) {
        for (hook, event) in self.hooks.drain(..) {
            let message = "cancelled with its call; it was killed".to_owned();
            let killed = HookResult {
                hook,
                event: event.name().to_owned(),
                decision: None,
                reason: None,
                stop: false,
                exit_code: None,
                stderr: String::new(),
                duration_ms: 0,
                error: Some(Fault { kind: FaultKind::Cancelled, message }),
                warnings: Vec::new(),
                left_behind: false,
            };
            if let Err(error) = self.agent.session().append_plugin(&killed) {
                tracing::warn!(%error, "a killed hook could not be logged");
            }
        }
    }
}
