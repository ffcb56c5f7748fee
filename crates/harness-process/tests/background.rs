//! Descendants that outlive the process (H01).
#![expect(clippy::disallowed_methods, reason = "tests use files")]

#[cfg(test)]
mod shell;

use std::time::{Duration, Instant};

use harness_process::Leftover;
use shell::{alive, eventually, kill, pids, run, sh};

#[tokio::test]
async fn a_background_child_that_holds_the_pipe_does_not_hold_the_result() {
    let begun = Instant::now();
    let outcome = run(sh("sleep 300 & echo $!; echo ready")).await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let text = outcome.stdout.text();
    assert!(text.ends_with("ready\n"), "{text}");
    assert_eq!((outcome.exit_code, outcome.signal), (Some(0), None));
    assert!(outcome.descendants_killed && !outcome.descendants_left);
    assert!(!outcome.timed_out && !outcome.cancelled);
    assert!(!alive(pids(&text)[0]));
}

#[tokio::test]
async fn a_background_child_with_redirected_output_is_killed_too() {
    let outcome = run(sh("sleep 300 >/dev/null 2>&1 & echo $!")).await;
    assert_eq!(outcome.exit_code, Some(0));
    assert!(outcome.descendants_killed);
    assert!(outcome.stdout.ended);
    assert!(!alive(pids(&outcome.stdout.text())[0]));
}

#[tokio::test]
async fn a_background_child_that_ignores_sigterm_is_killed() {
    let outcome = run(sh("(trap '' TERM; echo up; while :; do sleep 0.05; done) & echo $!; sleep 0.1")).await;
    assert!(outcome.descendants_killed);
    assert!(!alive(pids(&outcome.stdout.text())[0]));
}

#[tokio::test]
async fn a_pipeline_in_the_background_is_killed_as_a_whole() {
    let outcome = run(sh("sleep 300 | cat & echo $!; echo ready")).await;
    assert!(outcome.descendants_killed);
    assert!(!alive(pids(&outcome.stdout.text())[0]));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_orphan_with_a_session_of_its_own_is_found_by_the_pipe_it_holds() {
    let outcome = run(sh("setsid sh -c 'sleep 300 & echo $!'; echo ready")).await;
    assert!(outcome.descendants_killed);
    assert!(!alive(pids(&outcome.stdout.text())[0]));
}

#[tokio::test]
async fn nothing_is_reported_killed_when_nothing_was_left() {
    let outcome = run(sh("sleep 0.01 & wait; echo done")).await;
    assert!(outcome.success() && outcome.stdout.ended);
    assert!(!outcome.descendants_killed && !outcome.descendants_left);
}

#[tokio::test]
async fn descendants_may_be_left_alive_on_request() {
    let mut spec = sh("sleep 300 & echo $!");
    spec.leftover = Leftover::Leave;
    let outcome = run(spec).await;
    let pid = pids(&outcome.stdout.text())[0];
    assert!(outcome.descendants_left && !outcome.descendants_killed);
    assert!(alive(pid));
    kill(pid);
    eventually("the child that was left ends", || !alive(pid));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_was_in_the_pipes_when_the_process_ended_is_read_even_without_patience() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = sh("echo $$ > pid.new; mv pid.new pid; while [ ! -e go ]; do sleep 0.01; done
         sleep 300 & echo $! > background; head -c 60000 /dev/zero; head -c 60000 /dev/zero >&2");
    spec.leftover = Leftover::Leave; // ending the background child would read on
    spec.cwd = folder.path().to_owned();
    spec.drain = harness_process::DrainLimits { idle: Duration::ZERO, total: Duration::ZERO };
    let (_live, _cancel, run) = shell::start(spec);
    let started = async {
        while !folder.path().join("pid").exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(shell::HANG, started).await.unwrap();
    // From here on this thread is held up, so the run cannot read until the process has ended.
    let pid = pids(&std::fs::read_to_string(folder.path().join("pid")).unwrap())[0];
    std::fs::write(folder.path().join("go"), "").unwrap();
    eventually("the process ends", || !alive(pid));
    let outcome = run.await.unwrap().unwrap();
    kill(pids(&std::fs::read_to_string(folder.path().join("background")).unwrap())[0]);
    assert_eq!((outcome.stdout.total_bytes(), outcome.stderr.unwrap().total_bytes()), (60_000, 60_000));
}

#[tokio::test]
async fn a_descendant_that_never_stops_writing_does_not_hold_the_result() {
    let outcome = run(sh("yes & echo $!")).await;
    assert_eq!(outcome.exit_code, Some(0));
    assert!(outcome.descendants_killed);
}
