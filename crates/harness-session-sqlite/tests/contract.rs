//! The exported suite, with damage done to the rows and owners that are killed.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at files and start copies of themselves")]
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use harness_session::{SessionHeader, SessionId};
use harness_session_persistence::contract::{
    ContractStore, Damage, OtherProcess, Script, continued, drive, run_persistence_contract,
};
use harness_session_persistence::{Durability, KnownTypes, SessionPersistence};
use harness_session_sqlite::{SqliteConfig, SqlitePersistence};
use rusqlite::Connection;

const TASK: &str = "HARNESS_TEST_TASK";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn root(&self) -> PathBuf {
        self.0.path().join("state/sessions")
    }
    fn database(&self) -> Connection {
        Connection::open(self.root().join("sessions.db")).unwrap()
    }
}

fn backend(root: &Path) -> SqlitePersistence {
    SqlitePersistence::new(SqliteConfig::new(root))
}

#[async_trait]
impl ContractStore for Folder {
    fn connect(&self) -> Arc<dyn SessionPersistence> {
        Arc::new(backend(&self.root()))
    }
    fn connect_through_link(&self, _: SessionId) -> Option<Arc<dyn SessionPersistence>> {
        let link = self.0.path().join("elsewhere");
        if !link.exists() {
            std::os::unix::fs::symlink(self.root(), &link).unwrap();
        }
        Some(Arc::new(backend(&link)))
    }
    fn fingerprint(&self, id: SessionId) -> Vec<u8> {
        if !self.root().join("sessions.db").exists() {
            return vec![];
        }
        let database = self.database();
        let mut text = String::new();
        for query in [
            "SELECT * FROM sessions WHERE id = ?1",
            "SELECT * FROM events WHERE session_id = ?1 ORDER BY seq",
        ] {
            let Ok(mut statement) = database.prepare(query) else { return vec![] };
            let columns = statement.column_count();
            let mut rows = statement.query([id.to_string()]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                for column in 0..columns {
                    write!(text, "{:?}|", row.get_ref(column).unwrap()).unwrap();
                }
            }
        }
        let mut hasher = std::hash::DefaultHasher::new();
        std::hash::Hash::hash(&text, &mut hasher);
        std::hash::Hasher::finish(&hasher).to_be_bytes().to_vec()
    }
    fn damage(&self, id: SessionId, damage: Damage) -> bool {
        let database = self.database();
        database.pragma_update(None, "foreign_keys", true).unwrap();
        let id = id.to_string();
        let run = |statement: &str| assert!(database.execute(statement, [&id]).unwrap() > 0, "{statement}");
        match damage {
            Damage::HeaderOnly => {
                run("DELETE FROM events WHERE session_id = ?1");
                run("UPDATE sessions SET events = 0 WHERE id = ?1");
            }
            Damage::Empty => run("UPDATE sessions SET header = '' WHERE id = ?1"),
            Damage::Garbled => run("UPDATE events SET data = 'x' || data WHERE session_id = ?1 AND seq = 3"),
            Damage::Missing => run("DELETE FROM events WHERE session_id = ?1 AND seq = 3"),
            Damage::NewerFormat => {
                run(
                    "UPDATE sessions SET header = replace(header, '\"version\":1', '\"version\":2') WHERE id = ?1",
                );
            }
            _ => return false,
        }
        true
    }
    async fn other_process(&self, id: SessionId) -> Option<Box<dyn OtherProcess>> {
        let mut copy = Copy::run("owner_process", &self.root(), id);
        copy.hear("ready");
        Some(Box::new(copy))
    }
}

/// Another run of this test program, which does one of its ignored tests.
struct Copy {
    child: Child,
    lines: BufReader<ChildStdout>,
}
impl Copy {
    fn run(test: &str, root: &Path, id: SessionId) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env(TASK, format!("{}\n{id}", root.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }
    fn hear(&mut self, word: &str) {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            if line.contains(word) {
                return;
            }
            line.clear();
        }
        panic!("the copy has ended before it said `{word}`");
    }
}
impl OtherProcess for Copy {
    fn pid(&self) -> u32 {
        self.child.id()
    }
    fn kill(mut self: Box<Self>) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
impl Drop for Copy {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[tokio::test]
async fn sqlite_passes_the_contract() {
    // Rows are whole or not there.
    let cannot_happen = ["damaged::torn_character", "damaged::no_terminator", "damaged::blank_records"];
    assert_eq!(run_persistence_contract(Folder::new).await, cannot_happen);
}

/// Opens a session and holds it until it is killed.
#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn owner_process() {
    let task = std::env::var(TASK).unwrap();
    let (root, id) = task.rsplit_once('\n').unwrap();
    let _opened = backend(Path::new(root)).open(id.parse().unwrap(), &KnownTypes::default()).await.unwrap();
    println!("ready");
    std::io::stdin().read_to_end(&mut vec![]).unwrap();
}

async fn stored(folder: &Folder) -> SessionHeader {
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut writer = backend(&folder.root()).create(header.clone()).await.unwrap();
    writer.append(&events, Durability::Sync).await.unwrap();
    writer.close().await.unwrap();
    header
}

/// A program that does not know the lock added an event: nothing is stored over it.
#[tokio::test]
async fn a_writer_whose_session_changed_stores_nothing() {
    let folder = Folder::new();
    let header = stored(&folder).await;
    let mut opened = backend(&folder.root()).open(header.id, &KnownTypes::default()).await.unwrap();
    let more = continued(&header, &opened.events, |session| Script::turn(session, "more", "Yes.")).await;
    folder.database().execute("UPDATE sessions SET events = events + 1", []).unwrap();
    let error = opened.writer.append(&more, Durability::Sync).await.unwrap_err();
    assert_eq!(error.code(), "SESSION_STALE", "{error}");
    folder.database().execute("UPDATE sessions SET events = events - 1", []).unwrap();
    opened.writer.append(&more, Durability::Sync).await.unwrap();
    folder.database().execute("DELETE FROM sessions", []).unwrap();
    let error = opened.writer.append(&[], Durability::Sync).await;
    assert!(error.is_ok(), "nothing is owed");
}

#[tokio::test]
async fn a_newer_or_foreign_database_is_refused_by_name_and_left_alone() {
    let folder = Folder::new();
    let header = stored(&folder).await;
    folder.database().pragma_update(None, "user_version", 2).unwrap();
    let path = folder.root().join("sessions.db");
    for error in [
        backend(&folder.root()).list().await.unwrap_err(),
        backend(&folder.root()).open(header.id, &KnownTypes::default()).await.unwrap_err(),
        backend(&folder.root()).create(SessionHeader::new(0, None)).await.err().unwrap(),
    ] {
        assert!(error.to_string().contains("database version 2"), "{error}");
    }
    let text = b"this is no database, but long enough to be taken for one; ".repeat(30);
    for beside in ["sessions.db-wal", "sessions.db-shm"] {
        std::fs::remove_file(folder.root().join(beside)).ok();
    }
    std::fs::write(&path, &text).unwrap();
    let error = backend(&folder.root()).list().await.unwrap_err();
    assert!(error.to_string().contains("is damaged, or is no database"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), text);
}

/// What one commit at `write` left to the system, an empty batch at `sync` brings to the device.
#[tokio::test]
async fn a_barrier_without_events_is_a_commit_after_weaker_ones() {
    let folder = Folder::new();
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    let mut writer = backend(&folder.root()).create(header).await.unwrap();
    writer.append(&events, Durability::Write).await.unwrap();
    let wal = || std::fs::metadata(folder.root().join("sessions.db-wal")).unwrap().len();
    let before = wal();
    writer.append(&[], Durability::Sync).await.unwrap();
    let after = wal();
    assert!(after > before, "the device was not asked");
    writer.append(&[], Durability::Sync).await.unwrap();
    assert_eq!(wal(), after, "it has it already");
}

/// Stores one session in a fresh place as soon as it is told to.
#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn first_user_process() {
    let task = std::env::var(TASK).unwrap();
    let (root, id) = task.rsplit_once('\n').unwrap();
    let header = SessionHeader { id: id.parse().unwrap(), ..SessionHeader::new(0, None) };
    let events = drive(&header, |session| Script::turn(session, "hi", "Yes.")).await;
    println!("ready");
    std::io::stdin().read_to_end(&mut vec![]).unwrap();
    let mut writer = backend(Path::new(root)).create(header).await.unwrap();
    writer.append(&events, Durability::Sync).await.unwrap();
    println!("stored");
}

/// Several processes make the database at once: all of them succeed.
#[tokio::test]
async fn the_first_users_of_a_place_do_not_disturb_each_other() {
    for _ in 0..20 {
        let folder = Folder::new();
        let mut copies: Vec<Copy> =
            (0..3).map(|_| Copy::run("first_user_process", &folder.root(), SessionId::generate())).collect();
        for copy in &mut copies {
            copy.hear("ready");
        }
        for copy in &mut copies {
            drop(copy.child.stdin.take());
        }
        for copy in &mut copies {
            copy.hear("stored");
        }
        assert_eq!(backend(&folder.root()).list().await.unwrap().sessions.len(), 3);
    }
}
