//! A folder of sessions, and child processes that use it.
#![expect(clippy::disallowed_methods, reason = "tests look at files and start copies of themselves")]
#![allow(dead_code, reason = "every test file uses a part")]
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use harness_session::{Event, SessionHeader, SessionId};
use harness_session_jsonl::{JsonlConfig, JsonlPersistence};
use harness_session_persistence::contract::OtherProcess;
use harness_session_persistence::{Durability, SessionPersistence};

pub(crate) struct Folder(pub(crate) tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("state/sessions")
    }
    pub(crate) fn backend(&self) -> JsonlPersistence {
        backend(&self.root())
    }
    pub(crate) fn session(&self, id: SessionId) -> PathBuf {
        self.root().join(id.to_string())
    }
    pub(crate) fn log(&self, id: SessionId) -> PathBuf {
        self.session(id).join("log.jsonl")
    }
    /// A stored and closed session.
    pub(crate) async fn store(&self, header: &SessionHeader, events: &[Arc<Event>]) {
        let mut writer = self.backend().create(header.clone()).await.unwrap();
        writer.append(events, Durability::Sync).await.unwrap();
        writer.close().await.unwrap();
    }
    /// Names beside the log, sorted.
    pub(crate) fn beside(&self, id: SessionId) -> Vec<String> {
        let entries = fs::read_dir(self.session(id)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn backend(root: &Path) -> JsonlPersistence {
    JsonlPersistence::new(JsonlConfig::new(root))
}

/// Another run of this test program, which does one of its ignored tests.
pub(crate) struct Copy {
    child: Child,
    lines: BufReader<ChildStdout>,
}

/// What a copy is told.
pub(crate) const TASK: &str = "HARNESS_TEST_TASK";

impl Copy {
    pub(crate) fn run(test: &str, task: &str) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut command = Command::new(program);
        command.args(["--exact", test, "--ignored", "--nocapture"]);
        Self::start(command, task)
    }
    /// Under a limit on the size of files, in 512-byte blocks; a write beyond it fails with `EFBIG`.
    pub(crate) fn run_limited(test: &str, task: &str, blocks: u32) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut command = Command::new("sh");
        let script =
            format!("trap '' XFSZ; ulimit -S -f {blocks}; exec \"$0\" --exact {test} --ignored --nocapture");
        command.arg("-c").arg(script).arg(program);
        Self::start(command, task)
    }
    fn start(mut command: Command, task: &str) -> Self {
        command.env(TASK, task).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }
    /// The next line that starts with a word, without it; `None` when the copy has ended.
    pub(crate) fn hear(&mut self, word: &str) -> Option<String> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            // The test runner's own words may come before on the same line.
            if let Some(at) = line.find(word) {
                return Some(line[at + word.len()..].trim().to_owned());
            }
            line.clear();
        }
        None
    }
    pub(crate) fn wait(mut self) -> bool {
        self.child.wait().unwrap().success()
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

/// What this copy was told: a folder and a session.
pub(crate) fn task() -> (PathBuf, SessionId) {
    let task = std::env::var(TASK).unwrap();
    let (root, id) = task.rsplit_once('\n').unwrap();
    (root.into(), id.parse().unwrap())
}
pub(crate) fn told(root: &Path, id: SessionId) -> String {
    format!("{}\n{id}", root.display())
}
