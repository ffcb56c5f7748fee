//! In the place of policies and bodies: what the record says they did.
use std::sync::Arc;

use harness_kernel::Ctx;
use harness_llm::{Block, Message};
use harness_session::{Step, TurnEndReason};
use harness_tools::{
    Annotate, Execute, ListenerError, PostExecute, PostToolDecision, PreExecute, PreToolDecision, Prepare,
    ToolCall, ToolFailure, ToolFailureCode, ToolReturn,
};

use crate::abort::Moment;
use crate::record::CallRecord;
use crate::script::Script;
use crate::tool::Success;

/// The beginning of what the pipeline says of a listener that failed before the call had an identity.
const PREPARE_FAILED: &str = "a listener of tools/prepare failed, so the tool was not run: ";

pub(crate) fn register(ctx: &Ctx, script: &Arc<Script>) {
    let shared = Arc::clone(script);
    ctx.around::<Prepare, _>(move |event, next| {
        let script = Arc::clone(&shared);
        async move {
            let event = prepare(&script, event).await?;
            next.run(event).await
        }
    });
    let shared = Arc::clone(script);
    ctx.around::<PreExecute, _>(move |PreExecute(call), next| {
        let script = Arc::clone(&shared);
        async move {
            match judge(&script, &call).await {
                Some(decision) => Ok(decision),
                None => next.run(PreExecute(call)).await,
            }
        }
    });
    let shared = Arc::clone(script);
    ctx.around::<Execute, _>(move |Execute(call), _| {
        let script = Arc::clone(&shared);
        async move { Ok(execute(&script, &call).await) }
    });
    let shared = Arc::clone(script);
    ctx.around::<PostExecute, _>(move |event, _| {
        let script = Arc::clone(&shared);
        async move { Ok(decide(&script, &event)) }
    });
    let shared = Arc::clone(script);
    ctx.around::<Annotate, _>(move |event, _| {
        let script = Arc::clone(&shared);
        async move {
            let mut notes = event.notes;
            if let Some((_, result)) = recorded(&script, &event.call).and_then(|call| call.result.as_ref()) {
                notes.details.clone_from(&result.meta);
                notes.usage = result.usage;
                notes.concludes_turn = concludes(&script, event.call.at());
            }
            Ok(notes)
        }
    });
}

fn recorded<'a>(script: &'a Script, call: &ToolCall) -> Option<&'a CallRecord> {
    script.call(call.at(), call.position())
}

async fn prepare(script: &Script, mut event: Prepare) -> Result<Prepare, ListenerError> {
    let Some((at, _)) = script.request() else { return Ok(event) };
    let found = script.step().and_then(|step| {
        let mut calls = step.calls.iter().zip(0u32..);
        calls.find(|(call, _)| call.asked.id == event.call_id())
    });
    let Some((call, position)) = found else { return Ok(event) };
    if script.life.crashed() && call.started.is_none() && call.result.is_none() {
        script.freeze().await;
    }
    if script.cancel_at(at.turn, Moment::Prepare(at.step, position)) {
        // The pipeline drops whoever decides when the turn is cancelled.
        script.released.cancelled().await;
    }
    if let (None, Some((_, result))) = (&call.started, &call.result)
        && let Some(detail) =
            result.error.as_ref().and_then(|error| error.message.strip_prefix(PREPARE_FAILED))
    {
        return Err(ListenerError::new(detail));
    }
    if let Some(started) = &call.started {
        for by in &started.rewritten_by {
            let arguments = serde_json::from_str(&started.arguments).map_err(|error| {
                ListenerError::new(format!("the rewritten arguments are not JSON: {error}"))
            })?;
            event = event.rewrite(by.clone(), arguments);
        }
    }
    Ok(event)
}

async fn judge(script: &Script, call: &ToolCall) -> Option<PreToolDecision> {
    let record = recorded(script, call)?;
    let (turn, step, position) = (call.at().turn, call.at().step, call.position());
    let denied = record.code() == Some(ToolFailureCode::DENIED.as_str());
    let here = script.cancel_at(turn, Moment::PreExecute(step, position));
    if here && !denied {
        script.released.cancelled().await;
    }
    if !denied {
        return None;
    }
    script.cancel_at(turn, Moment::Execute(step, position));
    let (index, result) = record.result.as_ref()?;
    script.give(*index);
    script.count("denials");
    Some(PreToolDecision::Deny { reason: result.error.as_ref()?.message.clone() })
}

async fn execute(script: &Script, call: &ToolCall) -> ToolReturn {
    let missing = || {
        ToolReturn::failure(ToolFailure::new(
            ToolFailureCode::other("NOT_RECORDED"),
            "the record has no result of this call",
        ))
    };
    let Some(record) = recorded(script, call) else { return missing() };
    let Some((index, result)) = &record.result else {
        if script.life.crashed() {
            script.freeze().await;
        }
        return missing();
    };
    script.give(*index);
    script.cancel_at(call.at().turn, Moment::Execute(call.at().step, call.position()));
    let content = content(&result.message);
    match &result.error {
        Some(error) => {
            let code = ToolFailureCode::other(error.code.clone());
            let failure = ToolFailure::new(code, error.message.clone()).showing(content);
            ToolReturn::failure(match &result.meta {
                Some(meta) => failure.with_meta(meta.clone()),
                None => failure,
            })
        }
        None => match serde_json::to_value(Success { content, meta: result.meta.clone() }) {
            Ok(value) => ToolReturn::value(value),
            Err(error) => {
                let text = format!("the recorded result is not JSON: {error}");
                ToolReturn::failure(ToolFailure::new(ToolFailureCode::INVALID_TOOL_OUTPUT, text))
            }
        },
    }
}

fn decide(script: &Script, event: &PostExecute) -> PostToolDecision {
    let result = recorded(script, &event.call).and_then(|call| call.result.as_ref());
    match result.map(|(_, result)| content(&result.message)) {
        Some(content) if content != event.returned.content() => {
            PostToolDecision::AcceptContent { content, contexts: Vec::new() }
        }
        _ => PostToolDecision::accept(),
    }
}

fn content(message: &Message) -> Vec<Block> {
    message
        .content
        .iter()
        .find_map(|block| match block {
            Block::ToolResult(result) => Some(result.content.clone()),
            _ => None,
        })
        .unwrap_or_default()
}

/// Whether a tool ended the turn: nothing else ends one that owes the model its results.
fn concludes(script: &Script, at: Step) -> bool {
    let Some(turn) = script.life.turn(at.turn) else { return false };
    let last = turn.steps.last_key_value().is_some_and(|(number, _)| *number == at.step);
    last && matches!(turn.reason(), Some(TurnEndReason::Completed | TurnEndReason::MaxTokens))
}
