//! A turn whose process ended in the middle is closed on load.
use std::sync::Arc;

use harness_session::{Body, Event, Grammar, SessionHeader, ToolResult, TurnEndReason};

use super::drive::{Script, continued, drive, encoded};
use super::{ContractStore, fixed_header};
use crate::known::KnownTypes;
use crate::note::RepairNote;
use crate::repair::{NOT_STARTED, OUTCOME_UNKNOWN};
use crate::writer::Durability::Sync;

async fn store_open(store: &dyn ContractStore, header: &SessionHeader, events: &[Arc<Event>]) {
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(events, Sync).await.unwrap();
    writer.close().await.unwrap();
}

/// Opens the session twice: the closers are returned, durable, and not added again.
async fn closers(
    store: &dyn ContractStore,
    header: &SessionHeader,
    events: &[Arc<Event>],
) -> Vec<Arc<Event>> {
    let known = KnownTypes::default();
    let opened = store.connect().open(header.id, &known).await.unwrap();
    let (kept, closers) = opened.events.split_at(events.len());
    assert_eq!(encoded(kept), encoded(events), "complete events were changed");
    assert_eq!(opened.writer.next_seq(), opened.events.len() as u64);
    let from = events.len() as u64;
    assert!(
        matches!(&opened.repairs[..], [RepairNote::ClosedTurn { from: first, .. }] if *first == from),
        "the repair is not told: {:?}",
        opened.repairs
    );
    assert!(Grammar::of(opened.events.iter().map(|event| &**event)).unwrap().open_turn().is_none());
    let closers = closers.to_vec();
    let all = encoded(&opened.events);
    opened.writer.close().await.unwrap();

    let before = store.fingerprint(header.id);
    let again = store.connect().open(header.id, &known).await.unwrap();
    assert_eq!(encoded(&again.events), all, "the second load differs");
    assert_eq!(again.repairs, [], "the second load mends again");
    again.writer.close().await.unwrap();
    assert_eq!(store.fingerprint(header.id), before, "the second load wrote something");
    closers
}

fn answers(closers: &[Arc<Event>]) -> Vec<(u32, &str, Vec<u64>)> {
    let result = |event: &'_ Arc<Event>| match &event.body {
        Body::ToolResult(ToolResult { position, error, .. }) => {
            let code = match error.as_ref()?.code.as_str() {
                NOT_STARTED => NOT_STARTED,
                OUTCOME_UNKNOWN => OUTCOME_UNKNOWN,
                _ => "another code",
            };
            Some((*position, code, event.sources.clone().unwrap_or_default()))
        }
        _ => None,
    };
    closers.iter().filter_map(result).collect()
}
fn types(events: &[Arc<Event>]) -> Vec<&str> {
    events.iter().map(|event| event.body.type_name()).collect()
}

pub(super) async fn unstarted_and_running_calls(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let calls = [("c0", "{}"), ("c1", "{}"), ("c2", "{}"), ("c3", "{}")];
    let events = drive(&header, |session| {
        Script::turn(session, "first", "Yes.");
        let step = Script::open(session, "second").answer("Looking. ", &calls);
        step.start(1, "c1").start(0, "c0").result(0, "c0", "fine").start(3, "c3");
    })
    .await;
    store_open(store, &header, &events).await;
    let closers = closers(store, &header, &events).await;
    let seq = |wanted: &str, position: u32| {
        let found = events.iter().rev().find(|event| match &event.body {
            Body::ToolCall(call) => wanted == "tool/call" && call.position == position,
            body => wanted != "tool/call" && body.type_name() == wanted,
        });
        found.unwrap().seq
    };
    assert_eq!(
        answers(&closers),
        [
            (1, OUTCOME_UNKNOWN, vec![seq("tool/call", 1)]),
            (2, NOT_STARTED, vec![seq("assistant/message", 0)]),
            (3, OUTCOME_UNKNOWN, vec![seq("tool/call", 3)]),
        ]
    );
    assert_eq!(types(&closers)[3..], ["step/end", "turn/end"]);
    assert!(
        matches!(&closers[4].body, Body::TurnEnd(end) if end.turn == 2 && end.reason == TurnEndReason::Interrupted)
    );
    let last = events.last().unwrap().time;
    assert!(closers.iter().all(|event| event.time == last), "times must repeat the last event's");
    true
}

pub(super) async fn an_open_step(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let events = drive(&header, |session| {
        let step = Script::open(session, "first").answer("Yes.", &[("c0", "{}")]);
        step.start(0, "c0").result(0, "c0", "fine");
    })
    .await;
    store_open(store, &header, &events).await;
    assert_eq!(types(&closers(store, &header, &events).await), ["step/end", "turn/end"]);
    true
}

pub(super) async fn an_open_turn(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let mut events = drive(&header, |session| {
        Script::turn(session, "first", "Yes.");
    })
    .await;
    events.pop();
    store_open(store, &header, &events).await;
    assert_eq!(types(&closers(store, &header, &events).await), ["turn/end"]);
    true
}

pub(super) async fn a_cut_stream_makes_no_message(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let events = drive(&header, |session| {
        Script::open(session, "first").stream(&["half ", "an ", "ans"]);
    })
    .await;
    store_open(store, &header, &events).await;
    assert_eq!(types(&closers(store, &header, &events).await), ["step/end", "turn/end"]);
    true
}

pub(super) async fn reading_changes_nothing(store: &dyn ContractStore) -> bool {
    let (header, known) = (fixed_header(), KnownTypes::default());
    let events = drive(&header, |session| {
        Script::open(session, "first").answer("Yes.", &[("c0", "{}")]);
    })
    .await;
    store_open(store, &header, &events).await;
    let before = store.fingerprint(header.id);
    let snapshot = store.connect().inspect(header.id, &known).await.unwrap();
    assert_eq!(snapshot.stored, events.len() as u64);
    assert_eq!(store.fingerprint(header.id), before);
    let opened = store.connect().open(header.id, &known).await.unwrap();
    assert_eq!(encoded(&opened.events), encoded(&snapshot.events), "reading promised other events");
    assert_eq!(opened.repairs, snapshot.repairs);
    true
}

pub(super) async fn a_mended_session_goes_on(store: &dyn ContractStore) -> bool {
    let (header, known) = (fixed_header(), KnownTypes::default());
    let events = drive(&header, |session| {
        Script::open(session, "first").answer("Yes.", &[("c0", "{}"), ("c1", "{}")]).start(0, "c0");
    })
    .await;
    store_open(store, &header, &events).await;
    let mut opened = store.connect().open(header.id, &known).await.unwrap();
    let more = continued(&header, &opened.events, |session| {
        let messages = session.messages();
        let results: Vec<_> = messages.iter().flat_map(|message| &message.content).collect();
        let ids = results.iter().filter_map(|block| match block {
            harness_llm::Block::ToolResult(result) if result.is_error => Some(result.call_id.as_str()),
            _ => None,
        });
        assert_eq!(ids.collect::<Vec<_>>(), ["c0", "c1"], "the model does not see both answers");
        Script::turn(session, "next", "Yes.");
    })
    .await;
    opened.writer.append(&more, Sync).await.unwrap();
    opened.writer.close().await.unwrap();
    let all = store.connect().open(header.id, &known).await.unwrap();
    assert_eq!(encoded(&all.events), [encoded(&opened.events), encoded(&more)].concat());
    true
}
