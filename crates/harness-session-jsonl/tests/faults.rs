//! Storage that fails: told at once, nothing half-written, tried again.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at files")]
use std::fs;
use std::io::Write;
use std::sync::{Arc, Mutex};

use harness_kernel::App;
use harness_session::{SessionHeader, SessionPlugin, Sessions};
use harness_session_jsonl::{JsonlConfig, JsonlPersistence};
use harness_session_persistence::contract::{Script, drive, encoded};
use harness_session_persistence::{
    Durability, KnownTypes, SessionPersistence, StorageFailed, StorageRecovered, start_recorded,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

mod rig;
use rig::{Copy, Folder, backend, task, told};

#[tokio::test]
async fn a_full_disk_is_told_at_once_and_nothing_is_lost() {
    let folder = Folder::new();
    let id = SessionHeader::new(0, None).id;
    let mut copy = Copy::run_limited("full_disk_process", &told(&folder.root(), id), 16);
    let told = copy.hear("failed").expect("the failure is told");
    assert!(told.contains("cannot write") && told.contains("log.jsonl"), "{told}");
    let while_full = copy.hear("events on disk").expect("the log is readable while the disk is full");
    let (whole, lines) = while_full.split_once(' ').unwrap();
    assert_eq!(whole, "true", "half a batch was left behind");
    let kept: usize = lines.parse().unwrap();
    let total: usize = copy.hear("recovered with").expect("it recovers").parse().unwrap();
    assert!(kept < total);
    assert!(copy.wait());
    let session = folder.backend().list().await.unwrap().sessions.pop().unwrap();
    let opened = folder.backend().open(session.header.id, &KnownTypes::default()).await.unwrap();
    assert_eq!((opened.events.len(), opened.repairs.len()), (total, 0));
}

/// Fills its limit, says so, raises the limit and goes on.
#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn full_disk_process() {
    let (root, _) = task();
    let app = App::default().with(SessionPlugin::default()).start().await.unwrap();
    let sessions = app.ctx().service::<Sessions>().unwrap();
    let told = Arc::new(Mutex::new(String::new()));
    let failed = Arc::clone(&told);
    app.ctx().on::<StorageFailed>(move |event| *failed.lock().unwrap() = format!("failed {}", event.error));
    let recovered = Arc::clone(&told);
    app.ctx().on::<StorageRecovered>(move |_| "recovered".clone_into(&mut recovered.lock().unwrap()));
    let recorded =
        start_recorded(app.ctx(), &sessions, &backend(&root), SessionHeader::new(0, None)).await.unwrap();
    let session = recorded.session;
    while session.flush().await.is_ok() {
        Script::turn(&session, "fill", &"the disk ".repeat(30));
    }
    println!("{}", told.lock().unwrap());
    let log = fs::read_to_string(root.join(session.id().to_string()).join("log.jsonl")).unwrap();
    println!("events on disk {} {}", log.ends_with('\n'), log.lines().count() - 1);
    session.flush().await.expect_err("still full");
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: maximum, maximum }).unwrap();
    session.flush().await.unwrap();
    assert_eq!(*told.lock().unwrap(), "recovered");
    println!("recovered with {}", session.view().len());
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_first_write_that_fails_leaves_nothing_and_can_be_tried_again() {
    let folder = Folder::new();
    fs::create_dir_all(folder.0.path().join("state")).unwrap();
    fs::write(folder.root(), "a file where the folder should be").unwrap();
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut writer = folder.backend().create(header.clone()).await.unwrap();
    let error = writer.append(&events, Durability::Sync).await.unwrap_err();
    assert_eq!(error.code(), "SESSION_IO");
    assert!(error.to_string().contains("state/sessions"), "{error}");
    assert_eq!(writer.next_seq(), 0);
    fs::remove_file(folder.root()).unwrap();
    writer.append(&events, Durability::Sync).await.unwrap();
    writer.close().await.unwrap();
    let opened = folder.backend().open(header.id, &KnownTypes::default()).await.unwrap();
    assert_eq!(encoded(&opened.events), encoded(&events));
    let names: Vec<_> =
        fs::read_dir(folder.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [header.id.to_string().as_str()], "something was left behind");
}

#[tokio::test]
async fn a_name_taken_meanwhile_leaves_nothing_behind() {
    let folder = Folder::new();
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut first = folder.backend().create(header.clone()).await.unwrap();
    let mut second = folder.backend().create(header.clone()).await.unwrap();
    first.append(&events, Durability::Sync).await.unwrap();
    let before = fs::read(folder.log(header.id)).unwrap();
    let error = second.append(&events[..1], Durability::Sync).await.unwrap_err();
    assert_eq!((error.code(), second.next_seq()), ("SESSION_EXISTS", 0), "{error}");
    drop(second);
    assert_eq!(fs::read(folder.log(header.id)).unwrap(), before);
    assert_eq!(folder.beside(header.id), ["log.jsonl", "owner.json"], "the owner's record is gone");
    let names: Vec<_> =
        fs::read_dir(folder.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [header.id.to_string().as_str()], "something was left behind");
}

#[tokio::test]
async fn a_file_that_others_change_is_not_written() {
    for deleted in [false, true] {
        let folder = Folder::new();
        let header = SessionHeader::new(0, None);
        let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
        let mut writer = folder.backend().create(header.clone()).await.unwrap();
        writer.append(&events[..2], Durability::Sync).await.unwrap();
        if deleted {
            fs::remove_file(folder.log(header.id)).unwrap();
        } else {
            let mut log = fs::File::options().append(true).open(folder.log(header.id)).unwrap();
            log.write_all(b"{\"not\":\"ours\"}\n").unwrap();
        }
        let before = fs::read(folder.log(header.id)).ok();
        let error = writer.append(&events[2..], Durability::Sync).await.unwrap_err();
        assert_eq!(error.code(), "SESSION_STALE", "{error}");
        assert!(error.to_string().contains(if deleted { "deleted" } else { "bytes instead of" }), "{error}");
        assert_eq!(writer.next_seq(), 2);
        assert_eq!(fs::read(folder.log(header.id)).ok(), before);
    }
}

#[tokio::test]
async fn damage_is_named_with_file_line_and_byte() {
    let folder = Folder::new();
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    folder.store(&header, &events).await;
    let text = fs::read_to_string(folder.log(header.id)).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let start: usize = lines[..5].iter().map(|line| line.len()).sum();
    let whole = |line: &str| [&lines[..5].concat(), line, &lines[6..].concat()].concat();
    for (what, damaged, detail) in [
        ("not JSON", whole("{\"type\":\n"), "EOF while parsing"),
        ("an event twice", whole(lines[4]), "event 4 is expected here, not event 3"),
        ("an unknown key", whole(&lines[5].replacen('{', "{\"colour\":1,", 1)), "unknown field `colour`"),
        (
            "wrong data",
            whole("{\"type\":\"turn/start\",\"seq\":4,\"time\":0,\"data\":[]}\n"),
            "invalid length",
        ),
        // The last line is whole JSON, so it is not torn: an event of another build is never set aside.
        (
            "an unreadable last line",
            format!("{}{{\"later\":true}}", lines[..5].concat()),
            "unknown field `later`",
        ),
    ] {
        fs::write(folder.log(header.id), &damaged).unwrap();
        let error = folder.backend().open(header.id, &KnownTypes::default()).await.unwrap_err().to_string();
        let place = format!("log.jsonl, line 6 (byte {start}): ");
        assert!(error.contains(&place) && error.contains(detail), "{what}: {error}");
        assert!(error.contains(&format!("`harness sessions repair {}`", header.id)), "{what}: {error}");
        assert_eq!(
            fs::read_to_string(folder.log(header.id)).unwrap(),
            damaged,
            "{what}: refused but changed"
        );
        assert_eq!(folder.beside(header.id), ["log.jsonl"], "{what}");
    }
    let other = SessionHeader::new(0, None);
    fs::rename(folder.session(header.id), folder.session(other.id)).unwrap();
    fs::write(folder.log(other.id), &text).unwrap();
    let error = folder.backend().open(other.id, &KnownTypes::default()).await.unwrap_err().to_string();
    assert!(error.contains(&format!("the header names session {}", header.id)), "{error}");
}

#[tokio::test]
async fn configured_write_stores_all_the_same() {
    let folder = Folder::new();
    let config = JsonlConfig { durability: Durability::Write, ..JsonlConfig::new(folder.root()) };
    let backend = JsonlPersistence::new(config);
    assert_eq!(backend.durability(), Durability::Write);
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut writer = backend.create(header.clone()).await.unwrap();
    writer.append(&events[..4], Durability::Write).await.unwrap();
    writer.append(&events[4..], Durability::Sync).await.unwrap();
    writer.close().await.unwrap();
    assert_eq!(
        encoded(&backend.open(header.id, &KnownTypes::default()).await.unwrap().events),
        encoded(&events)
    );
}
