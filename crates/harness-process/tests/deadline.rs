//! Deadline, cancellation and dropped futures end the whole tree (H02).

#[cfg(test)]
mod shell;

use std::time::{Duration, Instant};

use harness_process::ProcessError;
use shell::{HANG, alive, eventually, first_pid, pids, run, sh, start};
use tokio_util::sync::CancellationToken;

const SOON: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_deadline_takes_the_whole_tree() {
    let begun = Instant::now();
    let outcome = run(sh("sh -c 'sleep 301 & echo $!; echo $$; sleep 302'; echo never").timeout(SOON)).await;
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert!(outcome.timed_out && !outcome.cancelled && !outcome.success());
    assert_eq!((outcome.exit_code, outcome.signal), (None, Some(15)));
    assert!(outcome.descendants_killed);
    let text = outcome.stdout.text();
    assert!(!text.contains("never"), "{text}");
    let pids = pids(&text);
    assert_eq!(pids.len(), 2, "{text}");
    assert!(!pids.into_iter().any(alive));
}

#[tokio::test]
async fn the_grace_lets_a_process_clean_up_and_its_last_words_are_kept() {
    let script = "trap 'echo cleaned; exit 5' TERM; echo up; while :; do sleep 0.02; done";
    let outcome = run(sh(script).timeout(SOON)).await;
    assert_eq!(outcome.stdout.text(), "up\ncleaned\n");
    assert!(outcome.timed_out);
    assert_eq!(outcome.exit_code, Some(5));
}

#[tokio::test]
async fn sigterm_ignored_by_everybody_ends_with_sigkill() {
    let mut spec = sh("trap '' TERM; sleep 303 & echo $!; sleep 304; echo never").timeout(SOON);
    spec.kill_grace = Duration::from_millis(100);
    let outcome = run(spec).await;
    assert_eq!((outcome.exit_code, outcome.signal), (None, Some(9)));
    assert!(!alive(pids(&outcome.stdout.text())[0]));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_with_a_session_of_its_own_is_found_by_its_parents() {
    // Another session, no output pipe, and a parent (in that session) that is still alive.
    let inner = "exec >/dev/null 2>&1; sleep 305 3>&- & echo $! >&3; exec 3>&-; wait";
    let outcome = run(sh(&format!("setsid sh -c '{inner}' 3>&1 & wait")).timeout(SOON)).await;
    assert!(outcome.timed_out && outcome.descendants_killed);
    assert!(!alive(pids(&outcome.stdout.text())[0]));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_orphan_with_a_session_of_its_own_is_found_by_the_pipe_it_holds() {
    let outcome = run(sh("setsid sh -c 'sleep 306 & echo $!'; sleep 307").timeout(SOON)).await;
    assert!(outcome.timed_out && outcome.descendants_killed);
    assert!(!alive(pids(&outcome.stdout.text())[0]));
}

#[tokio::test]
async fn cancellation_takes_the_whole_tree_and_is_no_timeout() {
    let (started, cancel, outcome) = start(sh("sleep 308 & echo $!; sleep 309").timeout(HANG));
    let pid = first_pid(started).await;
    cancel.cancel();
    let outcome = outcome.await.unwrap().unwrap();
    assert!(outcome.cancelled && !outcome.timed_out && outcome.descendants_killed);
    assert!(!alive(pid));
}

#[tokio::test]
async fn a_token_cancelled_before_starts_nothing() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = harness_process::run(sh("echo ran"), cancel).await.unwrap_err();
    assert!(matches!(error, ProcessError::CancelledBeforeStart));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_before_the_start_is_only_said_of_what_has_not_run() {
    let folder = tempfile::tempdir().unwrap();
    for attempt in 0..100 {
        let mark = folder.path().join(attempt.to_string());
        let cancel = CancellationToken::new();
        let task =
            tokio::spawn(harness_process::run(sh(&format!("echo > {}", mark.display())), cancel.clone()));
        // Cancelled as soon as the script has run, which is often before its start was reported.
        let watched = mark.clone();
        if attempt % 2 == 0 {
            tokio::task::spawn_blocking(move || eventually("it runs", || watched.exists())).await.unwrap();
        }
        cancel.cancel();
        match task.await.unwrap() {
            Ok(outcome) => assert!(outcome.cancelled || outcome.exit_code == Some(0)),
            Err(error) => {
                assert_eq!(error.code(), "PROCESS_CANCELLED_BEFORE_START");
                assert!(!mark.exists(), "attempt {attempt} ran");
            }
        }
    }
}

#[tokio::test]
async fn a_dropped_future_kills_the_tree_and_leaves_no_zombie() {
    let (started, _cancel, outcome) = start(sh("trap '' TERM; echo $$; sleep 310 & echo $!; wait"));
    let leader = first_pid(started).await;
    outcome.abort();
    assert!(outcome.await.unwrap_err().is_cancelled());
    let leader = rustix::process::Pid::from_raw(leader).unwrap();
    eventually("the leader is reaped", || rustix::process::test_kill_process(leader).is_err());
}

#[tokio::test]
async fn a_deadline_beyond_time_itself_is_no_deadline() {
    assert!(run(sh("exit 0").timeout(Duration::MAX)).await.success());
}
