//! One writer a session.
use std::sync::Arc;

use harness_session::{Event, SessionHeader};

use super::drive::{Script, drive};
use super::{ContractStore, fixed_header};
use crate::error::PersistenceError;
use crate::known::KnownTypes;
use crate::service::SessionPersistence;
use crate::writer::Durability::Sync;

async fn stored(store: &dyn ContractStore) -> (SessionHeader, Vec<Arc<Event>>) {
    let header = fixed_header();
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&events, Sync).await.unwrap();
    writer.close().await.unwrap();
    (header, events)
}

async fn in_use(backend: &dyn SessionPersistence, header: &SessionHeader, pid: u32) {
    let error = backend.open(header.id, &KnownTypes::default()).await.unwrap_err();
    let PersistenceError::InUse { owner, .. } = &error else { panic!("not in use but: {error}") };
    assert_eq!(owner.as_ref().map(|owner| owner.pid), Some(pid), "{error}");
    assert!(error.to_string().contains(&format!("is in use by pid {pid}")), "{error}");
}

pub(super) async fn the_second_writer_is_told_who_has_it(store: &dyn ContractStore) -> bool {
    let me = std::process::id();
    let header = fixed_header();
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut creator = store.connect().create(header.clone()).await.unwrap();
    creator.append(&events, Sync).await.unwrap();
    in_use(&*store.connect(), &header, me).await;
    creator.close().await.unwrap();

    let backend = store.connect();
    let opened = backend.open(header.id, &KnownTypes::default()).await.expect("free after closing");
    in_use(&*backend, &header, me).await;
    in_use(&*store.connect(), &header, me).await;
    opened.writer.close().await.unwrap();
    backend.open(header.id, &KnownTypes::default()).await.expect("free after closing again");
    true
}

pub(super) async fn dropping_the_writer_frees_it(store: &dyn ContractStore) -> bool {
    let (header, events) = stored(store).await;
    for _ in 0..3 {
        let opened = store.connect().open(header.id, &KnownTypes::default()).await.unwrap();
        assert_eq!(opened.events.len(), events.len());
    }
    true
}

pub(super) async fn reading_needs_no_lease(store: &dyn ContractStore) -> bool {
    let (header, events) = stored(store).await;
    let known = KnownTypes::default();
    let _opened = store.connect().open(header.id, &known).await.unwrap();
    let other = store.connect();
    assert_eq!(other.inspect(header.id, &known).await.unwrap().stored, events.len() as u64);
    assert_eq!(other.list().await.unwrap().sessions.len(), 1);
    true
}

pub(super) async fn through_a_link(store: &dyn ContractStore) -> bool {
    let (header, events) = stored(store).await;
    let known = KnownTypes::default();
    let Some(linked) = store.connect_through_link(header.id) else { return false };
    let opened = store.connect().open(header.id, &known).await.unwrap();
    in_use(&*linked, &header, std::process::id()).await;
    opened.writer.close().await.unwrap();
    let through = linked.open(header.id, &known).await.expect("free after closing");
    assert_eq!(through.events.len(), events.len());
    in_use(&*store.connect(), &header, std::process::id()).await;
    true
}

pub(super) async fn removing_needs_the_lease(store: &dyn ContractStore) -> bool {
    let (header, _) = stored(store).await;
    let known = KnownTypes::default();
    let backend = store.connect();
    let opened = store.connect().open(header.id, &known).await.unwrap();
    assert_eq!(backend.remove(header.id).await.unwrap_err().code(), "SESSION_IN_USE");
    opened.writer.close().await.unwrap();
    backend.remove(header.id).await.unwrap();
    let listing = backend.list().await.unwrap();
    assert_eq!((listing.sessions.len(), listing.unreadable.len()), (0, 0));
    assert_eq!(backend.open(header.id, &known).await.unwrap_err().code(), "SESSION_NOT_FOUND");
    assert_eq!(backend.remove(header.id).await.unwrap_err().code(), "SESSION_NOT_FOUND");
    drop(backend.create(header).await.expect("the identity is free again"));
    true
}

pub(super) async fn a_killed_owner_leaves_nothing(store: &dyn ContractStore) -> bool {
    let (header, events) = stored(store).await;
    let Some(owner) = store.other_process(header.id).await else { return false };
    in_use(&*store.connect(), &header, owner.pid()).await;
    owner.kill();
    let opened = store.connect().open(header.id, &KnownTypes::default()).await.expect("nothing to clean up");
    assert_eq!(opened.events.len(), events.len());
    true
}
