//! `kill_all`. Alone in its file: it ends every run of its process.

#[cfg(test)]
mod shell;

use shell::{HANG, alive, pids, sh};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn every_live_run_is_ended_and_joined() {
    assert_eq!(harness_process::kill_all().await, 0);
    let mut tasks = Vec::new();
    let mut trees = Vec::new();
    for script in ["sleep 311 & echo $!; sleep 312", "trap '' TERM; sleep 313 & echo $!; sleep 314"] {
        let (live, mut started) = mpsc::channel(16);
        let mut spec = sh(script);
        spec.live = Some(live);
        tasks.push(tokio::spawn(harness_process::run(spec, CancellationToken::new())));
        let chunk = tokio::time::timeout(HANG, started.recv()).await.unwrap().unwrap();
        trees.extend(pids(std::str::from_utf8(&chunk.bytes).unwrap()));
    }
    // A run that nobody polls any more, but that was not dropped either.
    let (live, mut started) = mpsc::channel(16);
    let mut spec = sh("echo $$; exec sleep 315");
    spec.live = Some(live);
    let mut neglected = Box::pin(harness_process::run(spec, CancellationToken::new()));
    tokio::select! {
        _ = &mut neglected => panic!("it sleeps"),
        chunk = started.recv() => trees.extend(pids(std::str::from_utf8(&chunk.unwrap().bytes).unwrap())),
    }

    assert_eq!(harness_process::live_count(), 3);
    assert_eq!(tokio::time::timeout(HANG, harness_process::kill_all()).await.unwrap(), 3);
    assert_eq!(trees.len(), 3);
    assert!(!trees.into_iter().any(alive));
    assert_eq!(harness_process::live_count(), 1, "only the neglected one");
    for task in tasks {
        assert!(task.await.unwrap().unwrap().cancelled);
    }
    drop(neglected);
    assert_eq!(harness_process::live_count(), 0);
}
