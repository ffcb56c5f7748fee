//! The started process dies with this program, and not with the thread that asked for it.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the killed program must not be a run of its own; tests use files"
)]

#[cfg(test)]
mod shell;

use std::process::Command;

use shell::{HANG, alive, eventually, sh};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const PID_FILE: &str = "PARENT_DEATH_PID_FILE";

#[test]
fn a_killed_program_leaves_no_direct_child() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "runs_a_child_until_killed", "--ignored", "--nocapture"])
        .env(PID_FILE, &pid_file)
        .spawn()
        .unwrap();
    let mut child = None;
    eventually("the child has started", || {
        child = std::fs::read_to_string(&pid_file).ok().and_then(|text| text.trim().parse().ok());
        child.is_some()
    });
    let child = child.unwrap();
    assert!(alive(child));
    program.kill().unwrap();
    program.wait().unwrap();
    eventually("the child ends with the program", || !alive(child));
}

/// Not a test: the program that the test above kills.
#[ignore = "started by a_killed_program_leaves_no_direct_child"]
#[tokio::test]
async fn runs_a_child_until_killed() {
    let pid_file = std::env::var(PID_FILE).expect("started by the other test only");
    shell::run(sh(&format!("echo $$ > {pid_file}.new && mv {pid_file}.new {pid_file} && exec sleep 60")))
        .await;
}

#[test]
fn the_thread_that_asked_may_end() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (live, mut started) = mpsc::channel(16);
    let mut spec = sh("echo up; sleep 0.3; echo done");
    spec.live = Some(live);
    let mut run = Box::pin(harness_process::run(spec, CancellationToken::new()));
    let handle = runtime.handle().clone();
    let asker = std::thread::spawn(move || {
        handle.block_on(async {
            tokio::select! {
                _ = &mut run => panic!("it sleeps"),
                chunk = started.recv() => assert_eq!(chunk.unwrap().bytes, "up\n"),
            }
        });
        run
    });
    let run = asker.join().unwrap();
    let outcome = runtime.block_on(async { tokio::time::timeout(HANG, run).await.unwrap().unwrap() });
    assert_eq!((outcome.signal, outcome.stdout.text().as_str()), (None, "up\ndone\n"));
}
