//! `Notification` and `StopFailure`: hooks that are told and cannot change anything.
use std::sync::Arc;

use harness_agent::{Agent, AgentFailed, Agents};
use harness_approval::ApprovalNotice;
use harness_hooks::EventFields;
use harness_kernel::Ctx;
use harness_llm::Failure;

use super::stop::last_words;
use crate::bridge::{About, Bridge};

pub(crate) fn listen(ctx: &Ctx, bridge: &Arc<Bridge>, agents: &Arc<Agents>) {
    let (asked, live) = (Arc::clone(bridge), Arc::clone(agents));
    ctx.on::<ApprovalNotice>(move |notice| {
        let Some(agent) = live.get(notice.request.session).filter(|_| notice.outcome.is_none()) else {
            return;
        };
        let tool = asked.aliases.claude_name(&notice.request.tool).to_owned();
        let fields = EventFields::Notification {
            message: format!("Harness needs your permission to use {tool}"),
            title: Some("Permission needed".to_owned()),
            notification_type: "permission_prompt".to_owned(),
        };
        tell(&asked, agent, fields);
    });
    let (failed, live) = (Arc::clone(bridge), Arc::clone(agents));
    ctx.on::<AgentFailed>(move |failure| {
        let Some(agent) = live.get(failure.agent).filter(|_| failure.turn.is_some()) else { return };
        let fields = EventFields::StopFailure {
            error: kind(&failure.failure).to_owned(),
            error_details: Some(failure.failure.to_string()),
            last_assistant_message: last_words(&agent),
        };
        tell(&failed, agent, fields);
    });
}

/// Runs the hooks beside the work; the end of the agent waits for them a little.
fn tell(bridge: &Arc<Bridge>, agent: Arc<dyn Agent>, fields: EventFields) {
    let (bridge, state) = (Arc::clone(bridge), Bridge::state(&agent));
    let tracker = state.telling.clone();
    tracker.spawn(async move {
        let hooks = bridge.known(&agent);
        bridge.fire(&agent, &hooks, fields, About::default(), &state.ended).await;
    });
}

/// Claude Code's word for a failure.
fn kind(failure: &Failure) -> &'static str {
    let code = failure.code.as_str().to_ascii_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if any(&["rate"]) {
        "rate_limit"
    } else if any(&["auth", "key"]) {
        "authentication_failed"
    } else if any(&["billing", "quota", "balance"]) {
        "billing_error"
    } else if any(&["overload", "server", "unavailable"]) {
        "server_error"
    } else if any(&["invalid", "bad_request"]) {
        "invalid_request"
    } else {
        "unknown"
    }
}
