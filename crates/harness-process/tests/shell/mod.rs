//! Shell scripts as specifications, and bounded looks at the world.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::time::{Duration, Instant};

use harness_process::{OutputChunk, ProcessError, ProcessOutcome, ProcessSpec};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Longer than anything here should take: only a hang reaches it.
pub(crate) const HANG: Duration = Duration::from_secs(30);

pub(crate) fn sh(script: &str) -> ProcessSpec {
    ProcessSpec::new("/bin/sh", "/").args(["-c", script]).env([("PATH", "/usr/local/bin:/usr/bin:/bin")])
}

pub(crate) async fn run(spec: ProcessSpec) -> ProcessOutcome {
    let run = harness_process::run(spec, CancellationToken::new());
    tokio::time::timeout(HANG, run).await.expect("the run hangs").unwrap()
}

pub(crate) async fn failure(spec: ProcessSpec) -> ProcessError {
    harness_process::run(spec, CancellationToken::new()).await.unwrap_err()
}

/// Alive and not a zombie.
#[expect(clippy::disallowed_methods, reason = "looks at the world, not at the workspace")]
pub(crate) fn alive(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']),
        Err(_) if cfg!(target_os = "linux") => false,
        Err(_) => rustix::process::test_kill_process(rustix::process::Pid::from_raw(pid).unwrap()).is_ok(),
    }
}

pub(crate) fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// Polls the world until it is so.
pub(crate) fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < HANG, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process ids that a script printed, one a line.
pub(crate) fn pids(text: &str) -> Vec<i32> {
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

pub(crate) type Task = JoinHandle<Result<ProcessOutcome, ProcessError>>;

/// Starts a run as a task of its own.
pub(crate) fn start(mut spec: ProcessSpec) -> (mpsc::Receiver<OutputChunk>, CancellationToken, Task) {
    let (live, started) = mpsc::channel(16);
    spec.live = Some(live);
    let cancel = CancellationToken::new();
    (started, cancel.clone(), tokio::spawn(harness_process::run(spec, cancel)))
}

/// The first process id that a script prints, once it does.
pub(crate) async fn first_pid(mut started: mpsc::Receiver<OutputChunk>) -> i32 {
    let chunk = tokio::time::timeout(HANG, started.recv()).await.unwrap().unwrap();
    pids(std::str::from_utf8(&chunk.bytes).unwrap())[0]
}
