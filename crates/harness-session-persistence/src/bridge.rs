//! What must have stood before an event for it to make sense.
use std::sync::Arc;

use harness_llm::Block;
use harness_session::{
    Body, Event, Grammar, OpenTurn, SessionId, Step, ToolCall, ToolResult, Turn, TurnEnd, TurnEndReason,
};

use crate::repair::close_open_turn;
use crate::salvage::Made;

/// The events to put between the log so far and this event; `None` if no such events are known.
pub(crate) fn bridge(
    id: SessionId,
    grammar: &Grammar,
    events: &[Arc<Event>],
    event: &Event,
) -> Option<Vec<Made>> {
    let mut made = Vec::new();
    let closing = |open: &OpenTurn| -> Vec<Made> {
        let closers = close_open_turn(id, events, Some(open)).into_iter();
        closers.map(|closer| (closer.body.clone(), closer.surface, closer.sources.clone())).collect()
    };
    let open = grammar.open_turn();
    let (turn, step) = place(&event.body)?;
    let (mut steps, mut inside) = (0, None);
    match open {
        Some(open) if open.turn == turn && !matches!(event.body, Body::TurnStart(_)) => {
            (steps, inside) = (open.steps, open.step);
            let stays = match &event.body {
                Body::StepEnd(_) | Body::AssistantMessage(_) => {
                    // The step goes on once its calls are answered.
                    let answers = closing(open);
                    made.extend(answers.into_iter().filter(|(body, ..)| matches!(body, Body::ToolResult(_))));
                    true
                }
                _ => inside.is_some() && inside == step,
            };
            if inside.is_some() && !(stays && inside == step) {
                made.clear();
                made.extend(closing(open).into_iter().filter(|(body, ..)| !matches!(body, Body::TurnEnd(_))));
                inside = None;
            }
        }
        open => {
            made.extend(open.map(closing).into_iter().flatten());
            let last = if matches!(event.body, Body::TurnStart(_)) { turn.checked_sub(1)? } else { turn };
            for missing in grammar.turns() + 1..=last {
                made.push((Body::TurnStart(Turn { turn: missing }), None, None));
                if missing != turn {
                    let end = TurnEnd { turn: missing, reason: TurnEndReason::Interrupted };
                    made.push((Body::TurnEnd(end), None, None));
                }
            }
        }
    }
    if let Some(step) = step.filter(|_| inside.is_none()) {
        let starts = matches!(event.body, Body::StepStart(_));
        for missing in steps + 1..=if starts { step.checked_sub(1)? } else { step } {
            made.push((Body::StepStart(Step { turn, step: missing }), None, None));
            if missing != step {
                made.push((Body::StepEnd(Step { turn, step: missing }), None, None));
            }
        }
    }
    if let Body::ToolResult(result) = &event.body {
        made.extend(start_of(events, open, result).map(|call| (Body::ToolCall(call), None, None)));
    }
    Some(made)
}

/// The turn that must be open, and the step if one must.
fn place(body: &Body) -> Option<(u32, Option<u32>)> {
    let of = |at: Step| Some((at.turn, Some(at.step)));
    match body {
        Body::TurnStart(start) => Some((start.turn, None)),
        Body::TurnEnd(end) => Some((end.turn, None)),
        Body::StepStart(at) | Body::StepEnd(at) => of(*at),
        Body::AssistantChunks(run) => of(run.at),
        Body::AssistantMessage(message) => of(message.at),
        Body::ToolCall(call) => of(call.at),
        Body::ToolResult(result) => of(result.at),
        _ => None,
    }
}

/// The start of a call that has a result and was not seen to start.
fn start_of(events: &[Arc<Event>], open: Option<&OpenTurn>, result: &ToolResult) -> Option<ToolCall> {
    let call = open?.calls.get(usize::try_from(result.position).ok()?).filter(|call| !call.started)?;
    let message = events.iter().rev().find_map(|event| match &event.body {
        Body::AssistantMessage(assistant) if assistant.at == result.at => Some(&assistant.message),
        _ => None,
    })?;
    let asked = message.content.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some(call),
        _ => None,
    });
    let arguments = asked.into_iter().nth(usize::try_from(result.position).ok()?)?.arguments.clone();
    Some(ToolCall {
        at: result.at,
        position: result.position,
        call_id: call.id.clone(),
        name: call.name.clone(),
        arguments,
        rewritten_by: Vec::new(),
    })
}
