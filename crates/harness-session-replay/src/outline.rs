//! What must come out again: the log without what differs from run to run.
//!
//! Left out are times, positions, the identities of answers and results, and where the stream was cut into packed
//! runs. The calls of one answer come before their results: how the two interleave depends on how long bodies take.
use std::collections::HashMap;
use std::sync::Arc;

use harness_llm::Message;
use harness_session::{AssistantMessage, Body, Event, PackedItem, Seq, Step};
use serde_json::{Value, json};

use crate::life::made_by_the_loop;

/// One thing that the loop made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    /// What it is about; two items of one log may share it.
    pub(crate) key: Key,
    /// Its data.
    pub(crate) value: Value,
    /// Where it stands in its log.
    pub(crate) seq: Seq,
}

/// Kind, turn, step, and attempt or position.
pub(crate) type Key = (&'static str, u32, u32, u32);

/// The outline of a log, or of a part of it.
pub(crate) fn outline(events: &[Arc<Event>]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    // Where the results of the open step begin.
    let mut results: Option<usize> = None;
    for event in events.iter().filter(|event| made_by_the_loop(event)) {
        let item = Item { key: key(event), value: value(event), seq: event.seq };
        match &event.body {
            Body::AssistantChunks(run) => {
                if let Some(last) = items.last_mut().filter(|last| last.key == item.key) {
                    join(&mut last.value, &run.items);
                    continue;
                }
            }
            Body::ToolCall(_) => {
                if let Some(at) = results {
                    items.insert(at, item);
                    results = Some(at + 1);
                    continue;
                }
            }
            Body::ToolResult(_) => drop(results.get_or_insert(items.len())),
            _ => results = None,
        }
        items.push(item);
    }
    items
}

/// How often each key comes.
pub(crate) fn keys(events: &[Arc<Event>]) -> HashMap<Key, usize> {
    let mut keys: HashMap<Key, usize> = HashMap::new();
    for event in events.iter().filter(|event| made_by_the_loop(event)) {
        let count = keys.entry(key(event)).or_default();
        *count = if matches!(event.body, Body::AssistantChunks(_)) { usize::MAX } else { *count + 1 };
    }
    keys
}

/// What an event is about.
pub(crate) fn key(event: &Event) -> Key {
    let at = |kind, at: Step, nth| (kind, at.turn, at.step, nth);
    match &event.body {
        Body::TurnStart(turn) => ("turn/start", turn.turn, 0, 0),
        Body::TurnEnd(end) => ("turn/end", end.turn, 0, 0),
        Body::StepStart(step) => at("step/start", *step, 0),
        Body::StepEnd(step) => at("step/end", *step, 0),
        Body::UserMessage(_) => ("user/message", 0, 0, 0),
        Body::AssistantChunks(run) => at("assistant/chunks", run.at, run.attempt),
        Body::AssistantMessage(answer) => at("assistant/message", answer.at, answer.attempt),
        Body::ToolCall(call) => at("tool/call", call.at, call.position),
        Body::ToolResult(result) => at("tool/result", result.at, result.position),
        Body::RequestHeader(_) => ("request/header", 0, 0, 0),
        Body::RequestContext(_) => ("request/context", 0, 0, 0),
        Body::InboxSpliced(_) => ("agent/inbox/spliced", 0, 0, 0),
        Body::AgentParked(_) => ("agent/parked", 0, 0, 0),
        Body::SessionResumed(_) => ("session/resumed", 0, 0, 0),
        Body::Plugin(_) => ("plugin", 0, 0, 0),
    }
}

fn value(event: &Event) -> Value {
    let whole =
        |data: Result<Value, serde_json::Error>| data.unwrap_or_else(|error| json!(error.to_string()));
    whole(match &event.body {
        Body::TurnStart(data) => serde_json::to_value(data),
        Body::TurnEnd(data) => serde_json::to_value(data),
        Body::StepStart(data) | Body::StepEnd(data) => serde_json::to_value(data),
        Body::UserMessage(data) => serde_json::to_value(data),
        Body::AssistantChunks(run) => {
            let mut value =
                json!({ "turn": run.at.turn, "step": run.at.step, "attempt": run.attempt, "items": [] });
            join(&mut value, &run.items);
            Ok(value)
        }
        Body::AssistantMessage(answer) => Ok(answered(answer)),
        Body::ToolCall(data) => serde_json::to_value(data),
        Body::ToolResult(data) => serde_json::to_value(data).map(|mut value| {
            if let Some(message) = value["message"].as_object_mut() {
                message.shift_remove("id");
            }
            value
        }),
        Body::RequestHeader(data) => serde_json::to_value(data.as_ref()),
        Body::RequestContext(data) => serde_json::to_value(data),
        Body::InboxSpliced(data) => serde_json::to_value(data),
        Body::AgentParked(data) => serde_json::to_value(data),
        Body::SessionResumed(data) => serde_json::to_value(data),
        Body::Plugin(data) => serde_json::from_str(data.raw().get()),
    })
}

fn answered(answer: &AssistantMessage) -> Value {
    let Message { content, source, .. } = answer.message.as_ref();
    json!({
        "turn": answer.at.turn, "step": answer.at.step, "attempt": answer.attempt, "content": content,
        "source": source, "usage": answer.usage, "finish": answer.finish, "interrupted": answer.interrupted,
    })
}

/// Adds a run to those before it, as if the stream had not been cut there.
fn join(value: &mut Value, run: &[PackedItem]) {
    let Some(items) = value["items"].as_array_mut() else { return };
    for item in run {
        let Ok(mut item) = serde_json::to_value(item) else { continue };
        let joined = items.last_mut().is_some_and(|last| extend(last, &mut item));
        if !joined {
            items.push(item);
        }
    }
}

/// Deltas of one block that follow each other share an item.
fn extend(last: &mut Value, next: &mut Value) -> bool {
    for kind in ["text", "reasoning", "arguments"] {
        let (Some(Value::Array(old)), Some(Value::Array(new))) = (last.get_mut(kind), next.get_mut(kind))
        else {
            continue;
        };
        if let ([block, text, lengths], [other, more, their]) = (old.as_mut_slice(), new.as_slice())
            && block == other
        {
            for (all, part) in [(text, more), (lengths, their)] {
                *all = format!("{}{}", all.as_str().unwrap_or_default(), part.as_str().unwrap_or_default())
                    .into();
            }
            return true;
        }
    }
    false
}
