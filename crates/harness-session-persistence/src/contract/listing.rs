//! Finding sessions.
use std::time::Duration;

use harness_session::SessionHeader;

use super::drive::{Script, continued, drive};
use super::{ContractStore, fixed_header};
use crate::known::KnownTypes;
use crate::writer::Durability::Sync;

async fn stored(store: &dyn ContractStore, header: &SessionHeader, text: &str) {
    let events = drive(header, |session| Script::turn(session, text, "Yes.")).await;
    let mut writer = store.connect().create(header.clone()).await.unwrap();
    writer.append(&events, Sync).await.unwrap();
    writer.close().await.unwrap();
}

pub(super) async fn newest_change_first(store: &dyn ContractStore) -> bool {
    let headers = [fixed_header(), fixed_header(), fixed_header()];
    for header in &headers {
        stored(store, header, "hi").await;
    }
    let backend = store.connect();
    let order = async || {
        let listing = backend.list().await.unwrap();
        listing.sessions.iter().map(|session| session.header.id).collect::<Vec<_>>()
    };
    assert_eq!(order().await, [headers[2].id, headers[1].id, headers[0].id]);
    // The clock of the storage may be coarse: go on until the change shows.
    let mut opened = backend.open(headers[0].id, &KnownTypes::default()).await.unwrap();
    let mut events = opened.events;
    for _ in 0..1000 {
        let more = continued(&headers[0], &events, |session| Script::turn(session, "hi", "Yes.")).await;
        opened.writer.append(&more, Sync).await.unwrap();
        events.extend(more);
        if order().await[0] == headers[0].id {
            assert_eq!(order().await[1..], [headers[2].id, headers[1].id]);
            return true;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("the change does not show");
}

pub(super) async fn summaries_say_what_it_is_about(store: &dyn ContractStore) -> bool {
    let header = SessionHeader { cwd: Some("/srv/demo".to_owned()), ..fixed_header() };
    stored(store, &header, "  Fix the\n\tfailing test, please: \u{1f980}  ").await;
    let listing = store.connect().list().await.unwrap();
    let [session] = &listing.sessions[..] else { panic!("one session expected: {listing:?}") };
    assert_eq!(session.header, header);
    assert_eq!(session.title.as_deref(), Some("Fix the failing test, please: \u{1f980}"));
    assert!(session.events.is_none_or(|events| events == 9), "{session:?}");
    assert!(session.turns.is_none_or(|turns| turns == 1), "{session:?}");
    assert!(store.connect().locate(header.id).is_some());
    true
}

pub(super) async fn the_latest_of_a_folder(store: &dyn ContractStore) -> bool {
    let at = |cwd: &str| SessionHeader { cwd: Some(cwd.to_owned()), ..fixed_header() };
    let headers = [at("/a"), at("/b"), at("/a"), at("/b"), at("/c")];
    for header in &headers {
        stored(store, header, "hi").await;
    }
    let backend = store.connect();
    let latest = async |cwd| backend.latest(cwd).await.unwrap().map(|session| session.header.id);
    assert_eq!(latest(None).await, Some(headers[4].id));
    assert_eq!(latest(Some("/a")).await, Some(headers[2].id));
    assert_eq!(latest(Some("/b")).await, Some(headers[3].id));
    assert_eq!(latest(Some("/d")).await, None);
    true
}

pub(super) async fn nothing_stored(store: &dyn ContractStore) -> bool {
    let listing = store.connect().list().await.unwrap();
    assert_eq!((listing.sessions.len(), listing.unreadable.len()), (0, 0));
    assert!(store.connect().latest(None).await.unwrap().is_none());
    true
}
