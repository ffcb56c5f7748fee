//! What is stored comes back.
use std::sync::Arc;

use harness_session::{Body, Decoder, Event, EventClass, PluginEvent, SessionHeader};
use serde::{Deserialize, Serialize};

use super::drive::{Script, continued, drive, encoded};
use super::{ContractStore, fixed_header};
use crate::known::KnownTypes;
use crate::writer::Durability::{Sync, Write};

/// Two turns with tools.
async fn sample(header: &SessionHeader) -> Vec<Arc<Event>> {
    drive(header, |session| {
        let step = Script::open(session, "fix the naïve test — ok? \u{1f980}");
        let step = step.answer("I look at it first. ", &[("c1", "{\"a\":1}"), ("c2", "{\"b\":\"\\u0000\"}")]);
        step.start(0, "c1").start(1, "c2").result(0, "c1", "done\r\n\u{2028}").result(1, "c2", "").end();
        Script::turn(session, "and now?", "That is all.");
    })
    .await
}

pub(super) async fn comes_back_as_it_was(store: &dyn ContractStore) -> bool {
    let header = SessionHeader { cwd: Some("/srv/é \"x\"".to_owned()), ..fixed_header() };
    let events = sample(&header).await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    for batch in events.chunks(5) {
        assert_eq!(writer.next_seq(), batch[0].seq);
        writer.append(batch, Write).await.unwrap();
    }
    writer.close().await.unwrap();

    let opened = store.connect().open(header.id, &KnownTypes::default()).await.unwrap();
    assert_eq!(opened.header, header);
    assert_eq!(encoded(&opened.events), encoded(&events));
    assert_eq!(opened.repairs, []);
    assert_eq!(opened.writer.next_seq(), events.len() as u64);
    true
}

pub(super) async fn without_events_it_does_not_exist(store: &dyn ContractStore) -> bool {
    let (header, known) = (fixed_header(), KnownTypes::default());
    let writer = store.connect().create(header.clone()).await.unwrap();
    let other = store.connect();
    assert!(other.list().await.unwrap().sessions.is_empty(), "listed without an event");
    assert_eq!(other.inspect(header.id, &known).await.unwrap_err().code(), "SESSION_NOT_FOUND");
    writer.close().await.unwrap();
    assert_eq!(other.open(header.id, &known).await.unwrap_err().code(), "SESSION_NOT_FOUND");
    assert!(other.list().await.unwrap().unreadable.is_empty(), "something was left behind");
    drop(other.create(header).await.expect("the identity is free again"));
    true
}

pub(super) async fn wrong_sequences_are_refused(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let events = sample(&header).await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    let refused = writer.append(&events[1..3], Write).await.unwrap_err();
    assert_eq!(refused.code(), "SESSION_SEQUENCE", "a first event that is not 0");
    writer.append(&events[..2], Write).await.unwrap();
    let before = store.fingerprint(header.id);
    for (what, batch) in [
        ("a gap before the batch", events[3..4].to_vec()),
        ("a repeated event", events[1..2].to_vec()),
        ("a gap in the batch", vec![Arc::clone(&events[2]), Arc::clone(&events[4])]),
    ] {
        assert_eq!(writer.append(&batch, Write).await.unwrap_err().code(), "SESSION_SEQUENCE", "{what}");
        assert_eq!(store.fingerprint(header.id), before, "{what} was stored in part");
    }
    writer.append(&events[2..], Write).await.expect("the right batch is still taken");
    writer.close().await.unwrap();
    let opened = store.connect().open(header.id, &KnownTypes::default()).await.unwrap();
    assert_eq!(encoded(&opened.events), encoded(&events));
    true
}

pub(super) async fn a_taken_identity_is_refused(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let events = sample(&header).await;
    let backend = store.connect();
    let mut writer = backend.create(header.clone()).await.unwrap();
    writer.append(&events[..1], Sync).await.unwrap();
    writer.close().await.unwrap();
    let before = store.fingerprint(header.id);
    let refused = match store.connect().create(header.clone()).await {
        Ok(mut second) => second.append(&events[..1], Sync).await.unwrap_err(),
        Err(error) => error,
    };
    assert_eq!(refused.code(), "SESSION_EXISTS");
    assert_eq!(store.fingerprint(header.id), before);
    true
}

pub(super) async fn goes_on_after_reopening(store: &dyn ContractStore) -> bool {
    let (header, known) = (fixed_header(), KnownTypes::default());
    let first = sample(&header).await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&first, Sync).await.unwrap();
    writer.close().await.unwrap();
    let mut opened = store.connect().open(header.id, &known).await.unwrap();
    let more = continued(&header, &opened.events, |session| Script::turn(session, "again", "Yes.")).await;
    opened.writer.append(&more, Sync).await.unwrap();
    opened.writer.close().await.unwrap();
    let all = store.connect().inspect(header.id, &known).await.unwrap();
    assert_eq!(encoded(&all.events), [encoded(&first), encoded(&more)].concat());
    assert_eq!(all.stored, all.events.len() as u64);
    true
}

pub(super) async fn barriers_without_events(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let events = sample(&header).await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&[], Sync).await.expect("nothing to make safe yet");
    writer.append(&events[..1], Write).await.unwrap();
    let before = store.fingerprint(header.id);
    writer.append(&[], Write).await.unwrap();
    writer.append(&[], Sync).await.unwrap();
    writer.append(&[], Sync).await.unwrap();
    assert_eq!(store.fingerprint(header.id), before);
    assert_eq!(writer.next_seq(), 1);
    true
}

pub(super) async fn a_fork_keeps_its_lineage(store: &dyn ContractStore) -> bool {
    let parent = fixed_header();
    let seed = sample(&parent).await;
    let header = SessionHeader { parent: Some(parent.id), inherited: seed.len() as u64, ..fixed_header() };
    let more = continued(&header, &seed, |session| Script::turn(session, "elsewhere", "Yes.")).await;
    let all = [seed, more].concat();
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&all, Sync).await.unwrap();
    writer.close().await.unwrap();
    let opened = store.connect().open(header.id, &KnownTypes::default()).await.unwrap();
    assert_eq!(opened.header, header);
    assert_eq!(encoded(&opened.events), encoded(&all));
    true
}

pub(super) async fn large_and_many(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let big = "0123456789abcdé\n".repeat(70_000);
    let events = drive(&header, |session| {
        let step = Script::open(session, "read").answer("Yes.", &[("c1", "{}")]);
        step.start(0, "c1").result(0, "c1", &big).end();
        for _ in 0..300 {
            Script::turn(session, "and?", "Yes.");
        }
    })
    .await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&events[..3], Write).await.unwrap();
    writer.append(&events[3..], Sync).await.unwrap();
    writer.close().await.unwrap();
    let opened = store.connect().open(header.id, &KnownTypes::default()).await.unwrap();
    assert_eq!(encoded(&opened.events), encoded(&events));
    true
}

#[derive(Serialize, Deserialize)]
struct Metric {
    value: f64,
}
impl PluginEvent for Metric {
    const TYPE: &'static str = "contract/metric";
    const CLASS: EventClass = EventClass::Standalone;
}
#[derive(Serialize, Deserialize)]
struct Needed {}
impl PluginEvent for Needed {
    const TYPE: &'static str = "contract/needed";
    const CLASS: EventClass = EventClass::Standalone;
    const REQUIRED: bool = true;
}

pub(super) async fn unknown_events_are_kept(store: &dyn ContractStore) -> bool {
    let (header, known) = (fixed_header(), KnownTypes::default());
    let mut events = drive(&header, |session| {
        let step = Script::open(session, "count").answer("One.", &[]);
        session.append_plugin(&Metric { value: 0.1 }).unwrap();
        step.end();
        session.append_plugin(&Metric { value: 1e300 }).unwrap();
    })
    .await;
    // A form that no serializer of ours would write.
    let foreign = r#"{"type":"acme/metric","seq":9,"time":1,"data":[ 1.50, {"b": -0.0,"a":12345678901234567890123}, "\u00e9" ]}"#;
    let mut foreign = Decoder::default().decode(foreign).unwrap();
    foreign.seq = events.len() as u64;
    events.push(Arc::new(foreign));
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&events, Sync).await.unwrap();
    writer.close().await.unwrap();

    let mut opened = store.connect().open(header.id, &known).await.unwrap();
    let more = continued(&header, &opened.events, |session| Script::turn(session, "again", "Two.")).await;
    opened.writer.append(&more, Sync).await.unwrap();
    opened.writer.close().await.unwrap();
    let all = store.connect().inspect(header.id, &known).await.unwrap();
    assert_eq!(encoded(&all.events), [encoded(&events), encoded(&more)].concat());
    let Body::Plugin(data) = &all.events[events.len() - 1].body else { panic!("the type changed") };
    assert_eq!(data.raw().get(), r#"[ 1.50, {"b": -0.0,"a":12345678901234567890123}, "\u00e9" ]"#);
    true
}

pub(super) async fn required_unknown_events_refuse_the_load(store: &dyn ContractStore) -> bool {
    let header = fixed_header();
    let events = drive(&header, |session| {
        Script::open(session, "count");
        session.append_plugin(&Needed {}).unwrap();
    })
    .await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&events, Sync).await.unwrap();
    writer.close().await.unwrap();
    let before = store.fingerprint(header.id);
    let backend = store.connect();
    for refused in [
        backend.open(header.id, &KnownTypes::default()).await.unwrap_err(),
        backend.inspect(header.id, &["contract/other"].into_iter().collect()).await.unwrap_err(),
    ] {
        assert_eq!(refused.code(), "SESSION_UNKNOWN_EVENT");
        assert!(refused.to_string().contains("`contract/needed`"), "does not name the type: {refused}");
    }
    assert_eq!(store.fingerprint(header.id), before, "a refused session was changed");
    backend
        .open(header.id, &[Needed::TYPE].into_iter().collect())
        .await
        .expect("known now, and the lease is free");
    true
}
