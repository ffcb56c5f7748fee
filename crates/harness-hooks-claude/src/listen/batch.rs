//! `PostToolBatch`: all calls of one answer are done, and the next request has not been made.
use std::sync::Arc;

use harness_agent::{PreStep, PreStepDecision};
use harness_hooks::{BatchedCall, Decision, EventFields, HookEvent, ToolFields};
use harness_llm::Block;
use harness_session::{Body, Session};
use serde_json::Value;

use crate::bridge::{About, Bridge, context};

/// Fires for the step before, if it ran tools. A block keeps the next request from being made.
pub(super) async fn settle(bridge: &Arc<Bridge>, step: &mut PreStep) -> Option<PreStepDecision> {
    let agent = Arc::clone(&step.agent);
    if step.step == 1 {
        return None;
    }
    let hooks = bridge.known(&agent);
    if !hooks.set.has(HookEvent::PostToolBatch) {
        return None;
    }
    let tool_calls = calls(bridge, agent.session(), (step.turn, step.step - 1), &agent.options().cwd);
    if tool_calls.is_empty() {
        return None;
    }
    let fields = EventFields::PostToolBatch { tool_calls };
    let outcome = bridge.fire(&agent, &hooks, fields, About::default(), &step.cancel).await?;
    if outcome.decision == Some(Decision::Deny) {
        return Some(PreStepDecision::Reject { reason: outcome.reason });
    }
    step.messages
        .extend(outcome.contexts.iter().map(|text| Arc::new(context(HookEvent::PostToolBatch, text))));
    None
}

/// The calls of a step with what the model is shown of each.
fn calls(bridge: &Bridge, session: &Session, at: (u32, u32), cwd: &std::path::Path) -> Vec<BatchedCall> {
    let (view, home) = (session.view(), bridge.config.home());
    let (mut started, mut calls) = (Vec::new(), Vec::new());
    // The step is at the end of the log: go backwards until it begins.
    for seq in (0..view.len()).rev() {
        let Some(event) = view.get(seq) else { break };
        match &event.body {
            Body::StepStart(step) if (step.turn, step.step) == at => break,
            Body::ToolCall(call) => started.push(call.clone()),
            Body::ToolResult(result) => calls.push(result.clone()),
            _ => {}
        }
    }
    calls.reverse();
    let batched = calls.iter().filter_map(|result| {
        let call = started.iter().find(|call| call.position == result.position)?;
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let shown = result.message.content.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(&result.content),
            _ => None,
        });
        let text: String = shown.flatten().filter_map(Block::as_text).collect();
        Some(BatchedCall {
            call: ToolFields {
                tool_name: bridge.aliases.claude_name(&call.name).to_owned(),
                tool_input: bridge.aliases.to_claude(&call.name, &input, cwd, home.as_deref()),
                tool_use_id: call.call_id.clone(),
            },
            tool_response: text,
        })
    });
    batched.collect()
}
