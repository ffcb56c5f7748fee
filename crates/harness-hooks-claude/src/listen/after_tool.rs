//! `PostToolUse` and `PostToolUseFailure`.
use std::sync::Arc;

use harness_agent::{Agent, Agents};
use harness_hooks::{EventFields, HookEvent, Outcome, ToolFields};
use harness_kernel::Ctx;
use harness_llm::{Block, Message};
use harness_tools::{PostExecute, PostToolDecision, ToolCall, ToolFailureCode};
use serde_json::Value;

use crate::bridge::{About, Bridge, context};
use crate::response::{Replaced, replaced, response};

pub(crate) fn listen(ctx: &Ctx, bridge: &Arc<Bridge>, agents: &Arc<Agents>) {
    let (bridge, agents) = (Arc::clone(bridge), Arc::clone(agents));
    ctx.around::<PostExecute, _>(move |event, next| {
        let bridge = Arc::clone(&bridge);
        let agent = event.call.session().and_then(|session| agents.get(session));
        async move {
            let Some(agent) = agent else { return next.run(event).await };
            let returned = Arc::clone(&event.returned);
            let call = event.call.clone();
            let decision = next.run(event).await?;
            // Hooks see what the tool made, not what another listener made of it.
            let content = returned.content();
            let Some(seen) = look(&bridge, &agent, &call, returned.result().ok(), &content, || {
                returned.result().err().map(|failure| (failure.code.clone(), failure.message.clone()))
            })
            .await
            else {
                return Ok(decision);
            };
            Ok(apply(&agent, decision, content, &call, returned.result().ok(), seen))
        }
    });
}

/// What the hooks came to, and the response that they saw.
struct Seen {
    event: HookEvent,
    outcome: Outcome,
    response: Value,
}

async fn look(
    bridge: &Arc<Bridge>,
    agent: &Arc<dyn Agent>,
    call: &ToolCall,
    value: Option<&Value>,
    content: &[Block],
    failure: impl FnOnce() -> Option<(ToolFailureCode, String)>,
) -> Option<Seen> {
    let hooks = bridge.known(agent);
    let wanted = [HookEvent::PostToolUse, HookEvent::PostToolUseFailure];
    if call.cancel_token().is_cancelled() || !wanted.iter().any(|event| hooks.set.has(*event)) {
        return None;
    }
    let home = bridge.config.home();
    let input = bridge.aliases.to_claude(call.name(), call.arguments(), call.cwd(), home.as_deref());
    let fields = ToolFields {
        tool_name: bridge.aliases.claude_name(call.name()).to_owned(),
        tool_input: input.clone(),
        tool_use_id: call.id().to_owned(),
    };
    let shown = || content.iter().filter_map(Block::as_text).collect::<String>();
    let response = value.map(|value| response(call.name(), &input, value)).unwrap_or_default();
    let event = match (value, failure()) {
        // A call that a policy refused has not been used.
        (_, Some((code, _))) if code == ToolFailureCode::DENIED || code == ToolFailureCode::GUARD_DENIED => {
            return None;
        }
        (_, Some((code, message))) => EventFields::PostToolUseFailure {
            call: fields,
            error: if code == ToolFailureCode::TOOL_TIMEOUT {
                format!("{message}\n{}", shown())
            } else {
                message
            },
            is_interrupt: Some(code == ToolFailureCode::ABORTED),
        },
        (Some(value), None) => match exit_code(call.name(), value) {
            Some(code) => EventFields::PostToolUseFailure {
                call: fields,
                error: format!("Exit code {code}\n{}", text_of(value)),
                is_interrupt: Some(false),
            },
            None => EventFields::PostToolUse {
                call: fields,
                tool_response: response.clone(),
                duration_ms: value.get("duration_ms").and_then(Value::as_u64),
            },
        },
        (None, None) => return None,
    };
    let about = About {
        names: bridge.aliases.names(call.name()),
        call_id: Some(call.id().to_owned()),
        ..About::default()
    };
    let which = match event {
        EventFields::PostToolUse { .. } => HookEvent::PostToolUse,
        _ => HookEvent::PostToolUseFailure,
    };
    let outcome = bridge.fire(agent, &hooks, event, about, call.cancel_token()).await?;
    Some(Seen { event: which, outcome, response })
}

/// A shell command that ended with another code than 0 is a failure to hooks.
fn exit_code(tool: &str, value: &Value) -> Option<i64> {
    let code = value.get("exit_code").and_then(Value::as_i64);
    code.filter(|code| tool == "bash" && *code != 0)
}
fn text_of(value: &Value) -> &str {
    value.get("output").and_then(Value::as_str).unwrap_or_default()
}

/// Puts what the hooks said onto what the other listeners decided.
fn apply(
    agent: &Arc<dyn Agent>,
    decision: PostToolDecision,
    original: Vec<Block>,
    call: &ToolCall,
    value: Option<&Value>,
    seen: Seen,
) -> PostToolDecision {
    let Seen { event, outcome, response } = seen;
    let mut more: Vec<Message> = outcome.contexts.iter().map(|text| context(event, text)).collect();
    let feedback =
        outcome.raw_reason.map(|reason| format!("Feedback from a {} hook:\n{reason}", event.name()));
    let new = outcome.update_output.as_ref().zip(value).and_then(|(new, value)| {
        match replaced(call.name(), value, &response, new) {
            Ok(replaced) => Some(replaced),
            Err(problem) => {
                Bridge::tell(
                    agent,
                    format!("a hook's new output for `{}` is ignored: {problem}", call.name()),
                );
                None
            }
        }
    });
    let beside = |mut content: Vec<Block>, feedback: Option<String>| {
        content.extend(feedback.map(|text| Block::text(format!("\n{text}"))));
        content
    };
    match decision {
        PostToolDecision::Block { feedback: told, mut contexts } => {
            contexts.append(&mut more);
            let feedback = feedback.map_or(told.clone(), |text| format!("{told}\n\n{text}"));
            PostToolDecision::Block { feedback, contexts }
        }
        PostToolDecision::AcceptContent { content, mut contexts } => {
            contexts.append(&mut more);
            PostToolDecision::AcceptContent { content: beside(content, feedback), contexts }
        }
        PostToolDecision::AcceptValue { value, mut contexts } => {
            contexts.append(&mut more);
            contexts.extend(feedback.map(|text| context(event, &text)));
            PostToolDecision::AcceptValue { value, contexts }
        }
        PostToolDecision::Accept { mut contexts } => {
            contexts.append(&mut more);
            match (new, feedback) {
                (Some(Replaced::Value(value)), feedback) => {
                    contexts.extend(feedback.map(|text| context(event, &text)));
                    PostToolDecision::AcceptValue { value, contexts }
                }
                (Some(Replaced::Text(text)), feedback) => {
                    let content = beside(vec![Block::text(text)], feedback);
                    PostToolDecision::AcceptContent { content, contexts }
                }
                (None, Some(feedback)) => {
                    let content = beside(original, Some(feedback));
                    PostToolDecision::AcceptContent { content, contexts }
                }
                (None, None) => PostToolDecision::Accept { contexts },
            }
        }
    }
}
