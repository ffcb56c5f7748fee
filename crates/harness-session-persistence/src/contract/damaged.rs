//! Damage is mended where nothing complete is lost, and refused where something could be.
use std::sync::Arc;

use harness_session::{Event, SessionHeader};

use super::drive::{Script, continued, drive, encoded};
use super::{ContractStore, Damage, fixed_header};
use crate::known::KnownTypes;
use crate::note::RepairNote;
use crate::service::Opened;
use crate::writer::Durability::Sync;

struct Damaged {
    header: SessionHeader,
    events: Vec<Arc<Event>>,
}

/// A finished session whose last record ends with characters of several bytes.
async fn damaged(store: &dyn ContractStore, damage: Damage) -> Option<Damaged> {
    let header = fixed_header();
    let events = drive(&header, |session| {
        Script::turn(session, "eins", "Ja.");
        let step = Script::open(session, "zwei").answer("Grüße.", &[("c0", "{}")]);
        step.start(0, "c0").result(0, "c0", "größer: 🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀");
    })
    .await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&events, Sync).await.unwrap();
    writer.close().await.unwrap();
    store.damage(header.id, damage).then_some(Damaged { header, events })
}

/// Opens twice, then appends a turn, and opens again.
async fn survives(store: &dyn ContractStore, damaged: &Damaged, complete: usize) -> Vec<RepairNote> {
    let (id, known) = (damaged.header.id, KnownTypes::default());
    let read = store.connect().inspect(id, &known).await.unwrap();
    assert_eq!(read.stored, complete as u64);
    assert_eq!(encoded(&read.events[..complete]), encoded(&damaged.events[..complete]));

    let Opened { events, repairs, writer, .. } = store.connect().open(id, &known).await.unwrap();
    assert_eq!(encoded(&events), encoded(&read.events), "opening and reading differ");
    writer.close().await.unwrap();
    let before = store.fingerprint(id);
    let mut again = store.connect().open(id, &known).await.unwrap();
    assert_eq!(encoded(&again.events), encoded(&events), "the second load differs");
    assert_eq!(store.fingerprint(id), before, "the second load wrote something");
    let torn = |note: &RepairNote| matches!(note, RepairNote::TornTail { .. });
    assert!(!again.repairs.iter().any(torn), "the fragment was met again");

    let more = continued(&damaged.header, &events, |session| Script::turn(session, "after", "Yes.")).await;
    again.writer.append(&more, Sync).await.unwrap();
    again.writer.close().await.unwrap();
    let last = store.connect().open(id, &known).await.unwrap();
    assert_eq!(encoded(&last.events), [encoded(&events), encoded(&more)].concat());
    repairs
}

async fn refused(store: &dyn ContractStore, damage: Damage, code: &str, names: &[&str]) -> bool {
    let Some(damaged) = damaged(store, damage).await else { return false };
    let (id, known) = (damaged.header.id, KnownTypes::default());
    let before = store.fingerprint(id);
    let backend = store.connect();
    for error in [backend.open(id, &known).await.unwrap_err(), backend.inspect(id, &known).await.unwrap_err()]
    {
        assert_eq!(error.code(), code, "{error}");
        for name in names {
            assert!(error.to_string().contains(name), "`{name}` is not in: {error}");
        }
    }
    assert_eq!(store.fingerprint(id), before, "a refused session was changed");
    let health = backend.check(id, &known).await.unwrap();
    assert!(health.faults.iter().any(|fault| fault.code == code), "a check does not find it: {health:?}");
    let dry = backend.repair(id, &known, true).await;
    assert_eq!(store.fingerprint(id), before, "a check or a dry run changed it");
    match backend.repair(id, &known, false).await {
        Ok(report) => {
            assert!(!report.losses.is_empty() && report.backup.is_some(), "{report:?}");
            assert_eq!(dry.unwrap().losses, report.losses, "a dry run says something else");
            assert_eq!(backend.check(id, &known).await.unwrap().faults, []);
            let opened = store.connect().open(id, &known).await.unwrap();
            assert!(opened.events.len() >= report.kept);
        }
        Err(error) => {
            // A backend need not repair, and none may touch a newer format.
            let codes = ["SESSION_CANNOT_REPAIR", "SESSION_NEWER_FORMAT"];
            assert!(codes.contains(&error.code()), "{error}");
            assert_eq!(store.fingerprint(id), before, "a refused repair changed it");
        }
    }
    true
}

pub(super) async fn torn_character(store: &dyn ContractStore) -> bool {
    let Some(damaged) = damaged(store, Damage::TornCharacter).await else { return false };
    let repairs = survives(store, &damaged, damaged.events.len() - 1).await;
    let Some(RepairNote::TornTail { bytes, .. }) = repairs.first() else { panic!("not told: {repairs:?}") };
    assert!(*bytes > 0);
    true
}
pub(super) async fn no_terminator(store: &dyn ContractStore) -> bool {
    let Some(damaged) = damaged(store, Damage::NoTerminator).await else { return false };
    let repairs = survives(store, &damaged, damaged.events.len()).await;
    assert!(matches!(repairs.first(), Some(RepairNote::MissingNewline { .. })), "not told: {repairs:?}");
    true
}
pub(super) async fn blank_records(store: &dyn ContractStore) -> bool {
    let Some(damaged) = damaged(store, Damage::BlankRecords).await else { return false };
    let repairs = survives(store, &damaged, damaged.events.len()).await;
    assert!(matches!(repairs.first(), Some(RepairNote::BlankLines { .. })), "not told: {repairs:?}");
    true
}
pub(super) async fn header_only(store: &dyn ContractStore) -> bool {
    let Some(damaged) = damaged(store, Damage::HeaderOnly).await else { return false };
    assert_eq!(survives(store, &damaged, 0).await, []);
    true
}
pub(super) async fn empty(store: &dyn ContractStore) -> bool {
    let remedy = ["harness sessions repair"];
    if !refused(store, Damage::Empty, "SESSION_CORRUPT", &remedy).await {
        return false;
    }
    let unreadable = async || store.connect().list().await.unwrap().unreadable.len();
    let before = unreadable().await; // the one above, if it was not repaired
    if damaged(store, Damage::Empty).await.is_some() {
        assert_eq!(unreadable().await, before + 1, "left out in silence");
    }
    true
}
pub(super) async fn garbled(store: &dyn ContractStore) -> bool {
    refused(store, Damage::Garbled, "SESSION_CORRUPT", &["harness sessions repair"]).await
}
pub(super) async fn missing(store: &dyn ContractStore) -> bool {
    refused(store, Damage::Missing, "SESSION_CORRUPT", &["is expected here", "harness sessions repair"]).await
}
pub(super) async fn newer_format(store: &dyn ContractStore) -> bool {
    refused(store, Damage::NewerFormat, "SESSION_NEWER_FORMAT", &["format version 2", "update harness"]).await
}
