//! Every way to the same log leads to the same lease.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at files")]
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use harness_session::{SessionHeader, SessionId};
use harness_session_persistence::contract::{Script, drive};
use harness_session_persistence::{Durability, KnownTypes, PersistenceError, SessionPersistence};

mod rig;
use rig::{Folder, backend};

/// Other roots through which a session can be reached, by the kind of link.
fn links(folder: &Folder, id: SessionId) -> Vec<(&'static str, PathBuf)> {
    let at = |name: &str| folder.0.path().join(name);
    let (root, session) = (at("by-root"), at("by-folder"));
    symlink(folder.root(), &root).unwrap();
    fs::create_dir(&session).unwrap();
    symlink(folder.session(id), session.join(id.to_string())).unwrap();
    let (file, hard) = (at("by-file"), at("by-hard-link"));
    for root in [&file, &hard] {
        fs::create_dir_all(root.join(id.to_string())).unwrap();
    }
    symlink(folder.log(id), file.join(id.to_string()).join("log.jsonl")).unwrap();
    fs::hard_link(folder.log(id), hard.join(id.to_string()).join("log.jsonl")).unwrap();
    vec![("root", root), ("folder", session), ("file", file), ("hard link", hard)]
}

async fn stored(folder: &Folder) -> SessionHeader {
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    folder.store(&header, &events).await;
    header
}

#[tokio::test]
async fn links_lead_to_the_same_lease() {
    let folder = Folder::new();
    let header = stored(&folder).await;
    let (id, known) = (header.id, KnownTypes::default());
    for (kind, root) in links(&folder, id) {
        for (holder, other) in [(folder.root(), &root), (root.clone(), &folder.root())] {
            let opened = backend(&holder).open(id, &known).await.unwrap();
            let error = backend(other).open(id, &known).await.unwrap_err();
            let PersistenceError::InUse { owner, .. } = &error else { panic!("{kind}: {error}") };
            let pid = owner.as_ref().map(|owner| owner.pid);
            if cfg!(target_os = "linux") || kind != "hard link" {
                assert_eq!(pid, Some(std::process::id()), "{kind}: {error}");
            }
            opened.writer.close().await.unwrap();
        }
        backend(&root).open(id, &known).await.unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}

#[tokio::test]
async fn a_killed_owner_leaves_a_record_that_stops_nobody() {
    let folder = Folder::new();
    let header = stored(&folder).await;
    let known = KnownTypes::default();
    let opened = folder.backend().open(header.id, &known).await.unwrap();
    assert_eq!(folder.beside(header.id), ["log.jsonl", "owner.json"]);
    let record = fs::read_to_string(folder.session(header.id).join("owner.json")).unwrap();
    opened.writer.close().await.unwrap();
    assert_eq!(folder.beside(header.id), ["log.jsonl"], "a closed session keeps no record");

    let dead = record.replace(&std::process::id().to_string(), "4194304");
    fs::write(folder.session(header.id).join("owner.json"), dead).unwrap();
    let opened = folder.backend().open(header.id, &known).await.expect("the record is only words");
    let error = folder.backend().open(header.id, &known).await.unwrap_err().to_string();
    assert!(error.contains(&format!("pid {}", std::process::id())), "the record was not replaced: {error}");
    drop(opened);
}

#[tokio::test]
async fn a_link_is_removed_without_what_it_leads_to() {
    let folder = Folder::new();
    let header = stored(&folder).await;
    let (_, root) = links(&folder, header.id).swap_remove(1);
    backend(&root).remove(header.id).await.unwrap();
    assert!(fs::symlink_metadata(root.join(header.id.to_string())).is_err());
    assert!(folder.log(header.id).exists());
}

#[tokio::test]
async fn everything_is_private() {
    let folder = Folder::new();
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut writer = folder.backend().create(header.clone()).await.unwrap();
    assert!(!folder.root().exists(), "the root appears with the first session");
    writer.append(&events, Durability::Sync).await.unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.0.path().join("state")), 0o700);
    assert_eq!(mode(folder.root()), 0o700);
    assert_eq!(mode(folder.session(header.id)), 0o700);
    for name in folder.beside(header.id) {
        assert_eq!(mode(folder.session(header.id).join(&name)), 0o600, "{name}");
    }
}

/// A lock can outlive its killed owner by the moment that a child of it takes to become another program.
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_outlives_its_owner_is_waited_for() {
    let folder = Folder::new();
    let header = stored(&folder).await;
    let mut ended = Command::new("true").spawn().unwrap();
    let gone = ended.id();
    ended.wait().unwrap();
    let record = folder.session(header.id).join("owner.json");
    for (pid, in_use) in [(gone, false), (std::process::id(), true)] {
        let child = fs::File::open(folder.log(header.id)).unwrap();
        child.lock().unwrap();
        fs::write(&record, serde_json::json!({ "pid": pid }).to_string()).unwrap();
        let becomes = std::thread::spawn(move || {
            // As slow as a child is on a busy machine.
            std::thread::sleep(std::time::Duration::from_millis(50));
            drop(child);
        });
        let opened = folder.backend().open(header.id, &KnownTypes::default()).await;
        match opened {
            Ok(opened) => {
                assert!(!in_use, "opened although its owner lives");
                opened.writer.close().await.unwrap();
            }
            Err(error) => assert!(in_use, "{error}"),
        }
        becomes.join().unwrap();
    }
}
