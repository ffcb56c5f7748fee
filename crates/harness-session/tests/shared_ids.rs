//! Two calls of one stored message share an id: it loads, and the model sees them apart.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use std::sync::Arc;

use harness_llm::{Block, Message};
use harness_session::{Body, Event, SessionHeader};

mod rig;
use rig::{AT, Rig, assistant, call, result, step_end, step_start, turn_end, turn_start};

/// A log with two calls, written with different ids and then given the same.
async fn stored() -> Vec<Arc<Event>> {
    let rig = Rig::new().await;
    for draft in [
        turn_start(1),
        step_start(1, 1),
        assistant(AT, &["a", "b"]),
        call(AT, 1, "b"),
        result(AT, 1, "b", false),
        call(AT, 0, "a"),
        result(AT, 0, "a", false),
        step_end(1, 1),
        turn_end(1),
    ] {
        rig.append(draft);
    }
    let same = |event: &Arc<Event>| {
        let mut event = Event::clone(event);
        match &mut event.body {
            Body::AssistantMessage(assistant) => assistant.message = renamed(&assistant.message),
            Body::ToolCall(call) => "a".clone_into(&mut call.call_id),
            Body::ToolResult(result) => result.message = renamed(&result.message),
            _ => {}
        }
        Arc::new(event)
    };
    rig.events().iter().map(same).collect()
}
fn renamed(message: &Message) -> Arc<Message> {
    let mut message = message.clone();
    for block in &mut message.content {
        match block {
            Block::ToolCall(call) => "a".clone_into(&mut call.id),
            Block::ToolResult(result) => "a".clone_into(&mut result.call_id),
            _ => {}
        }
    }
    Arc::new(message)
}

#[tokio::test]
async fn they_load_and_the_derived_messages_tell_them_apart() {
    let rig = Rig::new().await;
    let session = rig.sessions.create(rig.ctx(), SessionHeader::new(0, None), stored().await).unwrap();
    let messages = session.messages();
    let asked: Vec<_> = messages[0].tool_calls().map(|call| call.id.clone()).collect();
    assert_eq!(asked, ["a", "a-1"]);
    let answered = messages[1..].iter().flat_map(|message| &message.content).map(|block| match block {
        Block::ToolResult(result) => result.call_id.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(answered.collect::<Vec<_>>(), ["a-1", "a"], "each answer goes to the call at its position");
}

#[tokio::test]
async fn a_live_session_refuses_them() {
    let rig = Rig::new().await;
    for draft in [turn_start(1), step_start(1, 1)] {
        rig.append(draft);
    }
    let error = rig.session.append(assistant(AT, &["a", "a"])).unwrap_err();
    assert!(error.to_string().contains("share the id `a`"), "{error}");
}
