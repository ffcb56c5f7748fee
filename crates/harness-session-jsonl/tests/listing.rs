//! Lists read little and leave nothing out in silence.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at files")]
use std::fs;

use harness_session::{SessionHeader, SessionId};
use harness_session_persistence::SessionPersistence;
use harness_session_persistence::contract::{Script, drive};

mod rig;
use rig::Folder;

async fn stored(folder: &Folder, text: &str, turns: u32) -> SessionId {
    let header = SessionHeader { cwd: Some("/w".into()), ..SessionHeader::new(0, None) };
    let events = drive(&header, |session| {
        for _ in 0..turns {
            Script::turn(session, text, "Yes.");
        }
    })
    .await;
    folder.store(&header, &events).await;
    header.id
}

#[tokio::test]
async fn long_and_short_sessions_are_summarised_alike() {
    let folder = Folder::new();
    for (text, turns) in [("short", 1), ("many turns", 200), (&"wordy ".repeat(3000), 3)] {
        let id = stored(&folder, text, turns).await;
        let listing = folder.backend().list().await.unwrap();
        let session = listing.sessions.iter().find(|session| session.header.id == id).unwrap();
        assert_eq!(session.turns, Some(turns), "{text:.10}");
        assert_eq!(session.events, Some(u64::from(turns) * 9), "{text:.10}");
        assert_eq!(session.bytes, Some(fs::metadata(folder.log(id)).unwrap().len()));
        let title = session.title.as_deref().unwrap();
        assert!(text.starts_with(title) && title.len() <= 200, "{title}");
    }
}

#[tokio::test]
async fn first_words_that_are_far_too_long_are_left_out() {
    let folder = Folder::new();
    let id = stored(&folder, &"x".repeat(100_000), 1).await;
    let session = folder.backend().latest(None).await.unwrap().unwrap();
    assert_eq!((session.header.id, session.title, session.turns), (id, None, Some(1)));
}

#[tokio::test]
async fn what_is_no_session_is_named() {
    let folder = Folder::new();
    let good = stored(&folder, "hi", 1).await;
    let ids: Vec<_> = (0..4).map(|_| SessionHeader::new(0, None).id).collect();
    for id in &ids {
        fs::create_dir(folder.session(*id)).unwrap();
    }
    fs::write(folder.log(ids[1]), "").unwrap();
    fs::write(folder.log(ids[2]), "{\"type\":\"session\",\"header\":{\"version\":9}}\n").unwrap();
    fs::copy(folder.log(good), folder.log(ids[3])).unwrap();
    fs::create_dir(folder.root().join(".new-something")).unwrap();
    fs::write(folder.root().join("notes.txt"), "mine").unwrap();
    let listing = folder.backend().list().await.unwrap();
    assert_eq!(listing.sessions.iter().map(|session| session.header.id).collect::<Vec<_>>(), [good]);
    let mut told: Vec<_> =
        listing.unreadable.iter().map(|bad| (bad.location.clone(), bad.error.code())).collect();
    told.sort();
    let mut expected: Vec<_> = ids
        .iter()
        .zip(["SESSION_IO", "SESSION_CORRUPT", "SESSION_NEWER_FORMAT", "SESSION_CORRUPT"])
        .map(|(id, code)| (folder.log(*id).display().to_string(), code))
        .collect();
    expected.sort();
    assert_eq!(told, expected);
    assert_eq!(folder.backend().latest(Some("/w")).await.unwrap().unwrap().header.id, good);
}

#[tokio::test]
async fn a_torn_end_does_not_hide_a_session() {
    let folder = Folder::new();
    let id = stored(&folder, "hi", 2).await;
    let bytes = fs::read(folder.log(id)).unwrap();
    fs::write(folder.log(id), &bytes[..bytes.len() - 3]).unwrap();
    let session = folder.backend().list().await.unwrap().sessions.pop().unwrap();
    assert_eq!((session.events, session.turns), (Some(17), Some(2)));
    // Only a header, without its line feed.
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    fs::write(folder.log(id), &bytes[..header]).unwrap();
    let session = folder.backend().list().await.unwrap().sessions.pop().unwrap();
    assert_eq!((session.events, session.turns, session.title), (None, None, None));
}
