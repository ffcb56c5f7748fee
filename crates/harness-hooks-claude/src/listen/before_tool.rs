//! `PreToolUse` while arguments may still change, `PermissionRequest` before a person is asked.
use std::sync::Arc;

use harness_agent::{Agent, Agents, InboxPolicy};
use harness_hooks::{Decision, EventFields, HookEvent, Outcome, PermissionAnswer, ToolFields};
use harness_kernel::{Ctx, Order};
use harness_session::AbortCause;
use harness_tools::{ListenerError, PreExecute, PreToolDecision, Prepare, ToolCall};
use serde_json::Value;

use crate::bridge::{About, Bridge, NAME, context};

/// Why a call was refused when the hook does not say.
const REFUSED: &str = "a hook refused this call";

pub(crate) fn listen(ctx: &Ctx, bridge: &Arc<Bridge>, agents: &Arc<Agents>) {
    let (preparing, live) = (Arc::clone(bridge), Arc::clone(agents));
    ctx.around::<Prepare, _>(move |call, next| {
        let bridge = Arc::clone(&preparing);
        let agent = call.session().and_then(|session| live.get(session));
        async move {
            match agent {
                Some(agent) => next.run(before(&bridge, &agent, call).await).await,
                None => next.run(call).await,
            }
        }
    });
    let (judging, live) = (Arc::clone(bridge), Arc::clone(agents));
    // Outermost, so that a question of any policy can be answered by a hook before a person sees it.
    ctx.around_at::<PreExecute, _>(Order::Prepend, move |event, next| {
        let bridge = Arc::clone(&judging);
        let agent = event.0.session().and_then(|session| live.get(session));
        async move {
            let Some(agent) = agent else { return next.run(event).await };
            let call = event.0.clone();
            let outcome = Bridge::state(&agent).facts().judged.remove(call.id());
            let said = outcome.as_deref().and_then(|outcome| outcome.decision);
            let reason = outcome.as_deref().and_then(|outcome| outcome.reason.clone());
            if said == Some(Decision::Deny) {
                return Ok(PreToolDecision::deny(reason.unwrap_or_else(|| REFUSED.to_owned())));
            }
            let decision = match (said, next.run(event).await?) {
                (_, denied @ PreToolDecision::Deny { .. }) => denied,
                (Some(Decision::Allow), _) => PreToolDecision::Allow,
                (Some(Decision::Ask | Decision::Defer), _) => PreToolDecision::Ask { reason },
                (_, decision) => decision,
            };
            match decision {
                PreToolDecision::Ask { reason } => request(&bridge, &agent, &call, reason).await,
                decision => Ok(decision),
            }
        }
    });
}

fn fields(bridge: &Bridge, agent: &Arc<dyn Agent>, name: &str, id: &str, arguments: &Value) -> ToolFields {
    let (cwd, home) = (agent.options().cwd, bridge.config.home());
    ToolFields {
        tool_name: bridge.aliases.claude_name(name).to_owned(),
        tool_input: bridge.aliases.to_claude(name, arguments, &cwd, home.as_deref()),
        tool_use_id: id.to_owned(),
    }
}

async fn before(bridge: &Arc<Bridge>, agent: &Arc<dyn Agent>, call: Prepare) -> Prepare {
    let hooks = bridge.hooks(agent);
    if !hooks.set.has(HookEvent::PreToolUse) {
        return call;
    }
    let (name, id) = (call.name().to_owned(), call.call_id().to_owned());
    let event = EventFields::PreToolUse { call: fields(bridge, agent, &name, &id, call.arguments()) };
    let about = About { names: bridge.aliases.names(&name), call_id: Some(id.clone()), ..About::default() };
    // Dropped with this future when the call is cancelled; a cancelled hook decides nothing either way.
    let cancel = tokio_util::sync::CancellationToken::new();
    let Some(mut outcome) = bridge.fire(agent, &hooks, event, about, &cancel).await else { return call };
    for text in &outcome.contexts {
        Bridge::deliver(agent, agent.inject(context(HookEvent::PreToolUse, text)));
    }
    let inputs = std::mem::take(&mut outcome.update_inputs);
    let refused = outcome.decision == Some(Decision::Deny);
    Bridge::state(agent).facts().judged.insert(id, Arc::new(outcome));
    match inputs.into_iter().next_back() {
        Some(input) if !refused => {
            let arguments = bridge.aliases.from_claude(&name, input);
            if arguments == *call.arguments() { call } else { call.rewrite(NAME, arguments) }
        }
        _ => call,
    }
}

/// Lets hooks answer in place of the person.
async fn request(
    bridge: &Arc<Bridge>,
    agent: &Arc<dyn Agent>,
    call: &ToolCall,
    reason: Option<String>,
) -> Result<PreToolDecision, ListenerError> {
    let event = EventFields::PermissionRequest {
        call: fields(bridge, agent, call.name(), call.id(), call.arguments()),
    };
    let about = About {
        names: bridge.aliases.names(call.name()),
        call_id: Some(call.id().to_owned()),
        ..About::default()
    };
    let hooks = bridge.known(agent);
    let outcome = bridge.fire(agent, &hooks, event, about, call.cancel_token()).await;
    Ok(match outcome.and_then(|outcome: Outcome| outcome.permission) {
        None => PreToolDecision::Ask { reason },
        Some(PermissionAnswer::Allow { updated_input: Some(_), .. }) => PreToolDecision::deny(
            "a PermissionRequest hook wanted other arguments, which cannot change any more at this point; \
             rewrite them in a PreToolUse hook",
        ),
        Some(PermissionAnswer::Allow { .. }) => PreToolDecision::Allow,
        Some(PermissionAnswer::Deny { message, interrupt }) => {
            let reason = message.unwrap_or_else(|| REFUSED.to_owned());
            if interrupt {
                agent.cancel(AbortCause::Hook { reason: reason.clone() }, InboxPolicy::Keep);
            }
            PreToolDecision::deny(reason)
        }
    })
}
