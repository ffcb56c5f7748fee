//! The repair of an interrupted turn, as a pure function of any prefix of any log.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use std::sync::Arc;

use harness_llm::Block;
use harness_session::{Body, Derivation, Event, Grammar, Session, SessionHeader};
use harness_session_persistence::contract::{Script, drive, encoded};
use harness_session_persistence::{KnownTypes, Position, check_log, close_open_turn};
use proptest::prelude::*;

/// Turns; each with its calls, of which some have started and some are answered.
type Plan = Vec<Vec<(bool, bool)>>;

fn script(plan: &Plan, session: &Session) {
    for calls in plan {
        let ids: Vec<String> = (0..calls.len()).map(|n| format!("c{}-{n}", session.turns())).collect();
        let asked: Vec<_> = ids.iter().map(|id| (id.as_str(), "{}")).collect();
        let step = Script::open(session, "go").answer("Yes. ", &asked);
        for (position, (started, answered)) in (0u32..).zip(calls) {
            let id = &ids[position as usize];
            if *started {
                step.start(position, id);
            }
            if *started && *answered {
                step.result(position, id, "fine");
            }
        }
        if calls.iter().any(|(started, answered)| !(*started && *answered)) {
            return; // interrupted here
        }
        step.end();
    }
}

fn grammar(events: &[Arc<Event>]) -> Grammar {
    Grammar::of(events.iter().map(|event| &**event)).unwrap()
}
fn closed(header: &SessionHeader, events: &[Arc<Event>]) -> Vec<Arc<Event>> {
    close_open_turn(header.id, events, grammar(events).open_turn())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_prefix_closes_balanced_and_stays_closed(
        plan in proptest::collection::vec(proptest::collection::vec(any::<(bool, bool)>(), 0..4), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let header = SessionHeader::new(5, None);
        let log = runtime.block_on(drive(&header, |session| script(&plan, session)));
        for cut in 0..=log.len() {
            let prefix = &log[..cut];
            let closers = closed(&header, prefix);
            prop_assert_eq!(encoded(&closers), encoded(&closed(&header, prefix)), "not the same twice");
            let all = [prefix, &closers].concat();
            let folded = grammar(&all);
            prop_assert!(folded.open_turn().is_none());
            prop_assert!(closed(&header, &all).is_empty(), "a closed log is closed again");
            let (again, note) = check_log(&header, &all, &KnownTypes::default(), "x", |at| Position::Event(at as u64)).unwrap();
            prop_assert!(again.is_empty() && note.is_none());

            // Every call that the model sees has exactly one answer, right behind its message and in order.
            let derived = Derivation::of(all.iter().map(|event| &**event)).unwrap();
            let mut owed: Vec<String> = vec![];
            for message in derived.messages() {
                for block in &message.content {
                    if let Block::ToolResult(result) = block {
                        prop_assert!(owed.contains(&result.call_id));
                        owed.retain(|id| *id != result.call_id);
                    } else {
                        prop_assert!(owed.is_empty() || matches!(block, Block::ToolCall(_)), "unanswered: {:?}", owed);
                    }
                }
                owed.extend(message.tool_calls().map(|call| call.id.clone()));
            }
            prop_assert!(owed.is_empty());
        }
    }
}

#[tokio::test]
async fn closers_repeat_the_last_time_and_have_ids_of_their_own() {
    let header = SessionHeader::new(5, None);
    let log = drive(&header, |session| {
        Script::open(session, "go").answer("Yes. ", &[("a", "{}"), ("b", "{}"), ("c", "{}")]);
    })
    .await;
    let closers = closed(&header, &log);
    assert!(closers.iter().all(|event| event.time == log.last().unwrap().time));
    let mut ids: Vec<_> = closers
        .iter()
        .filter_map(|event| match &event.body {
            Body::ToolResult(result) => Some(result.message.id),
            _ => None,
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let other = SessionHeader::new(5, None);
    assert_ne!(encoded(&closed(&other, &log)), encoded(&closers), "ids must differ between sessions");
}

#[tokio::test]
async fn a_log_that_does_not_fit_names_the_event() {
    let header = SessionHeader::new(5, None);
    let mut log = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut wrong = Event::clone(&log[3]); // the step starts in turn 1; say 2
    wrong.body = Body::StepStart(harness_session::Step { turn: 2, step: 1 });
    log[3] = Arc::new(wrong);
    let error = check_log(&header, &log, &KnownTypes::default(), "the log", |at| Position::Line {
        line: at as u64 + 2,
        byte: 99,
    })
    .unwrap_err();
    assert_eq!(error.code(), "SESSION_CORRUPT");
    let text = error.to_string();
    assert!(text.contains("the log, line 5 (byte 99): step/start is outside"), "{text}");
}
