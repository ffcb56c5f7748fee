//! From log to history: step by step and from scratch alike.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use std::sync::Arc;

use harness_llm::{Block, Message, ToolResultBlock};
use harness_session::{
    AppendError, Body, Derivation, Draft, Event, SurfaceError, SurfaceOp, ToolCall, ToolResult, UserMessage,
};
use proptest::prelude::*;

mod rig;
use rig::{AT, Rig, assistant, block_on, call, result, step_start, turn_start, user};

fn same(incremental: &Derivation, log: &[Arc<Event>]) {
    let scratch = Derivation::of(log.iter().map(|event| &**event)).unwrap();
    assert_eq!(incremental.surface().collect::<Vec<_>>(), scratch.surface().collect::<Vec<_>>());
    assert_eq!(incremental.messages().collect::<Vec<_>>(), scratch.messages().collect::<Vec<_>>());
    assert_eq!(incremental.generation(), scratch.generation());
    assert_eq!(incremental.by_seq(), scratch.by_seq());
}
async fn in_a_step() -> Rig {
    let rig = Rig::new().await;
    rig.append(turn_start(1));
    rig.append(step_start(1, 1));
    rig
}

#[derive(Debug, Clone)]
enum Act {
    User(String),
    /// A model's message with one call, its start (with other arguments or not) and its result.
    Tools(bool),
    /// Replaces a stretch of the surface, given by two places modulo its length.
    Replace(usize, usize),
    /// Replaces the newest tool result.
    Prune,
}
fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => "[a-z\\x00]{0,6}".prop_map(Act::User),
        2 => any::<bool>().prop_map(Act::Tools),
        2 => (0usize..40, 0usize..40).prop_map(|(a, b)| Act::Replace(a, b)),
        1 => Just(Act::Prune),
    ];
    proptest::collection::vec(act, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn incremental_is_the_full_fold(acts in acts()) {
        block_on(async {
            let rig = in_a_step().await;
            let (mut model, mut calls) = (Vec::new(), 0u32);
            for act in acts {
                match act {
                    Act::User(text) => model.push(rig.append(user(&text))),
                    Act::Tools(rewritten) => {
                        calls += 1;
                        let id = format!("c{calls}");
                        model.push(rig.append(assistant(AT, &[&id])));
                        rig.append(started(&id, rewritten));
                        model.push(rig.append(result(AT, 0, &id, false)));
                    }
                    Act::Replace(a, b) if !model.is_empty() => {
                        let (a, b) = (a % model.len(), b % model.len());
                        let (start, end) = (a.min(b), a.max(b));
                        let cited = model[start..=end].to_vec();
                        let draft = user("summary").replacing(cited[0], *cited.last().unwrap()).citing(cited);
                        // A range that separates a call from its result is refused and leaves no trace.
                        match rig.session.append(draft) {
                            Ok(event) => drop(model.splice(start..=end, [event.seq])),
                            Err(AppendError::Surface(SurfaceError::Unbalanced(..))) => {}
                            Err(error) => panic!("{error}"),
                        }
                        assert_balanced(&rig.session.messages());
                    }
                    Act::Prune => {
                        let newest = model.iter().rposition(|seq| {
                            matches!(&rig.session.view().get(*seq).unwrap().body, Body::ToolResult(_))
                        });
                        if let Some(at) = newest {
                            let seq = rig.append(pruned(&rig, model[at]));
                            model[at] = seq;
                        }
                    }
                    Act::Replace(..) => {}
                }
                rig.session.with_derivation(|derived| {
                    assert_eq!(derived.surface().collect::<Vec<_>>(), model);
                });
                same(&rig.session.derivation(), &rig.events());
            }
        });
    }
}

fn started(id: &str, rewritten: bool) -> Draft {
    let mut start = ToolCall {
        at: AT,
        position: 0,
        call_id: id.into(),
        name: "probe".into(),
        arguments: "{}".into(),
        rewritten_by: vec![],
    };
    if rewritten {
        start.arguments = r#"{"safe":true}"#.into();
        start.rewritten_by = vec!["sandbox".into()];
    }
    Body::ToolCall(start).into()
}
fn pruned(rig: &Rig, seq: u64) -> Draft {
    let event = rig.session.view().get(seq).unwrap();
    let Body::ToolResult(old) = &event.body else { panic!() };
    let Block::ToolResult(block) = &old.message.content[0] else { panic!() };
    let block = ToolResultBlock { content: vec![Block::text("(pruned)")], ..block.clone() };
    let message = Message { content: vec![Block::ToolResult(block)], ..Message::clone(&old.message) };
    Draft::new(Body::ToolResult(ToolResult { message: Arc::new(message), ..old.clone() }))
        .replacing(seq, seq)
        .citing(vec![seq])
}

#[tokio::test]
async fn the_arguments_that_ran_are_those_in_the_history() {
    let rig = in_a_step().await;
    let early = rig.append(user("early"));
    let second = rig.append(user("second"));
    rig.append(assistant(AT, &["c1"]));
    // History before the message shrinks between the answer and the start of its tool.
    rig.append(user("summary").replacing(early, second).citing(vec![early, second]));
    rig.append(started("c1", true));
    let message = rig.session.messages()[1].clone();
    assert_eq!(message.tool_calls().next().unwrap().arguments, r#"{"safe":true}"#);
    same(&rig.session.derivation(), &rig.events());
    let Body::AssistantMessage(sent) = &rig.session.view().get(4).unwrap().body else { panic!() };
    assert_eq!(
        sent.message.tool_calls().next().unwrap().arguments,
        "{}",
        "the log keeps what the model sent"
    );
}

#[tokio::test]
async fn an_empty_answer_is_on_the_surface_and_says_nothing() {
    let rig = in_a_step().await;
    rig.append(user("hi"));
    let seq = rig.append(harness_session::ChunkRecorder::new(AT, 1).message("p", "m"));
    assert_eq!(rig.session.messages().len(), 1);
    assert_eq!(rig.session.derivation().surface().last(), Some(seq));
}

#[tokio::test]
async fn surface_operations_that_are_not_legal_leave_no_trace() {
    let rig = in_a_step().await;
    let a = rig.append(user("a"));
    let b = rig.append(user("b"));
    rig.append(assistant(AT, &["c1", "c2"]));
    for (position, id) in [(0, "c1"), (1, "c2")] {
        rig.append(call(AT, position, id));
    }
    let first = rig.append(result(AT, 0, "c1", false));
    let second = rig.append(result(AT, 1, "c2", false));
    let summary = |x, y, cited: &[u64]| user("s").replacing(x, y).citing(cited.to_vec());
    let message = Arc::new(Message::user("x"));
    let before = rig.session.view().len();
    for (draft, expected) in [
        (summary(99, 99, &[a]), SurfaceError::NotOnSurface(99)),
        (summary(0, a, &[a]), SurfaceError::NotOnSurface(0)),
        (summary(b, a, &[a, b]), SurfaceError::Backwards(b, a)),
        (summary(a, b, &[a]), SurfaceError::Uncited(b)),
        (user("s").replacing(a, a), SurfaceError::Uncited(a)),
        (
            result(AT, 1, "c2", false).replacing(first, first).citing(vec![first]),
            SurfaceError::ResultMismatch,
        ),
        (
            result(AT, 0, "c1", false).replacing(first, second).citing(vec![first, second]),
            SurfaceError::ResultMismatch,
        ),
        (result(AT, 0, "c1", false).replacing(a, a).citing(vec![a]), SurfaceError::ResultMismatch),
        (turn_start(2).replacing(a, a).citing(vec![a]), SurfaceError::Misplaced),
    ] {
        match rig.session.append(draft) {
            Err(AppendError::Surface(error)) => assert_eq!(error, expected),
            other => panic!("{expected}: {other:?}"),
        }
        assert_eq!(rig.session.view().len(), before);
        same(&rig.session.derivation(), &rig.events());
    }
    // A stored surface event without its operation.
    let bare = Event {
        seq: 0,
        time: 0,
        body: Body::UserMessage(UserMessage { message }),
        surface: None,
        sources: None,
    };
    assert_eq!(Derivation::of([&bare]).unwrap_err(), SurfaceError::Misplaced);
    let marked = Event { surface: Some(SurfaceOp::Append), ..Event::clone(&rig.events()[0]) };
    assert_eq!(Derivation::of([&marked]).unwrap_err(), SurfaceError::Misplaced);
}

#[tokio::test]
async fn sources_must_be_earlier_and_unique() {
    let rig = in_a_step().await;
    for cited in [vec![2], vec![0, 0], vec![1, 7]] {
        let bad = *cited.last().unwrap();
        match rig.session.append(user("x").citing(cited)) {
            Err(AppendError::Source(seq)) => assert_eq!(seq, bad),
            other => panic!("{other:?}"),
        }
    }
    rig.append(user("x").citing(vec![1, 0]));
}

/// Every call is followed by its result, and every result belongs to a call.
fn assert_balanced(messages: &[Arc<Message>]) {
    let mut open = Vec::new();
    for block in messages.iter().flat_map(|message| &message.content) {
        match block {
            Block::ToolCall(call) => open.push(call.id.clone()),
            Block::ToolResult(result) => {
                let at = open.iter().position(|id| *id == result.call_id);
                let Some(at) = at else { panic!("a result of no call: {}", result.call_id) };
                open.remove(at);
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}
