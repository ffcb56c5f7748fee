//! The suite for implementations: what every [`BashExecutor`] does, whatever machine it runs on.
//!
//! ```no_run
//! # async fn example(executor: &dyn harness_bash::BashExecutor) {
//! harness_bash::contract::check(executor, "/tmp/an-empty-writable-folder".as_ref()).await;
//! # }
//! ```

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{BashExecutor, RunRequest, RunResult};

/// Longer than anything here should take: only a hang reaches it.
const HANG: Duration = Duration::from_mins(1);

/// Runs every check against the executor. `folder` is an empty, writable folder on its machine.
///
/// # Panics
/// If the executor breaks the contract; the message says where.
pub async fn check(executor: &dyn BashExecutor, folder: &Path) {
    facts(executor, folder).await;
    fresh_shells(executor, folder).await;
    surroundings(executor, folder).await;
    output(executor, folder).await;
    endings(executor, folder).await;
    refusals(executor, folder).await;
}

async fn run(executor: &dyn BashExecutor, request: RunRequest) -> RunResult {
    let command = request.command.clone();
    let ended = tokio::time::timeout(HANG, executor.run(request, CancellationToken::new())).await;
    match ended {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => panic!("`{command}` was refused: {error}"),
        Err(elapsed) => panic!("`{command}` hangs: {elapsed}"),
    }
}

async fn text(executor: &dyn BashExecutor, folder: &Path, command: &str) -> String {
    run(executor, RunRequest::new(command, folder)).await.output.text
}

async fn facts(executor: &dyn BashExecutor, folder: &Path) {
    let result = run(executor, RunRequest::new("echo out; echo err >&2; exit 3", folder)).await;
    assert_eq!(result.exit_code, Some(3), "a nonzero exit code is a fact");
    assert_eq!(result.output.text, "out\nerr\n", "both streams, in order");
    assert!(!result.success() && !result.timed_out && !result.cancelled && result.signal.is_none());
    assert_eq!(result.cwd, folder);
    assert_eq!(result.shell.kind, executor.describe().shell);
    assert!(run(executor, RunRequest::new("true", folder)).await.success());
}

async fn fresh_shells(executor: &dyn BashExecutor, folder: &Path) {
    run(executor, RunRequest::new("LEFT_BEHIND=1; export LEFT_BEHIND; cd /", folder)).await;
    assert_eq!(text(executor, folder, "echo \"[$LEFT_BEHIND]\"").await, "[]\n", "no variable survives");
    assert_ne!(text(executor, folder, "pwd -P").await, "/\n", "each command starts in its own directory");
    run(executor, RunRequest::new("echo 'export SET_UP=yes' > \"it's set.sh\"", folder)).await;
    let mut prepared = RunRequest::new("echo \"[$SET_UP]\"", folder);
    prepared.setup = vec![folder.join("absent.sh"), folder.join("it's set.sh")];
    assert_eq!(run(executor, prepared).await.output.text, "[yes]\n", "setup files are read first");
}

async fn surroundings(executor: &dyn BashExecutor, folder: &Path) {
    assert_eq!(text(executor, folder, "cat; echo end").await, "end\n", "stdin is empty");
    let terminal = run(executor, RunRequest::new("(: < /dev/tty) 2>/dev/null", folder)).await;
    assert!(!terminal.success(), "there is no terminal");
    let quiet = "echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $TERM $NO_COLOR";
    assert_eq!(text(executor, folder, quiet).await, "cat cat 0 dumb 1\n", "nothing may wait for a person");
}

async fn output(executor: &dyn BashExecutor, folder: &Path) {
    let long = "echo HEAD; i=0; while [ $i -lt 200 ]; do echo 0123456789; i=$((i+1)); done; echo TAIL";
    let result = run(executor, RunRequest::new(long, folder).output_cap(400)).await;
    let output = result.output;
    assert_eq!(output.total_bytes, 5 + 200 * 11 + 5, "the true length");
    assert!(output.truncated() && output.text.len() < 500, "within the cap: {}", output.text.len());
    assert!(output.text.ends_with("TAIL\n"), "the end is always there: {}", output.text);
    let whole = run(executor, RunRequest::new("echo short", folder).output_cap(400)).await.output;
    assert!(!whole.truncated() && whole.text == "short\n" && whole.spill.is_none());
}

async fn endings(executor: &dyn BashExecutor, folder: &Path) {
    let timeout = Duration::from_millis(300);
    let result =
        run(executor, RunRequest::new("sleep 50 & sleep 50; echo never", folder).timeout(timeout)).await;
    assert!(result.timed_out && !result.cancelled && !result.success(), "a timeout is a fact");
    assert_eq!(result.timeout, timeout, "and which one it was");
    assert!(!result.output.text.contains("never"));

    let background = run(executor, RunRequest::new("sleep 50 & echo ready", folder)).await;
    assert_eq!((background.exit_code, background.output.text.as_str()), (Some(0), "ready\n"));
    assert!(background.duration < HANG / 4, "a background child does not hold the result");

    let cancel = CancellationToken::new();
    let cancel_once_started = async {
        while !run(executor, RunRequest::new("test -e started", folder)).await.success() {}
        cancel.cancel();
        std::future::pending::<()>().await;
    };
    let long = executor.run(RunRequest::new("echo > started; sleep 50", folder), cancel.clone());
    let result = tokio::select! { result = long => result, () = cancel_once_started => unreachable!() };
    assert!(
        matches!(result, Ok(result) if result.cancelled && !result.timed_out),
        "a cancellation is a fact"
    );
}

async fn refusals(executor: &dyn BashExecutor, folder: &Path) {
    let missing = folder.join("no such folder");
    for (command, cwd, code) in [
        ("true", missing.as_path(), "BASH_CWD_MISSING"),
        (" \n", folder, "BASH_INVALID_COMMAND"),
        ("echo \0", folder, "BASH_INVALID_COMMAND"),
    ] {
        let refused = executor.run(RunRequest::new(command, cwd), CancellationToken::new()).await;
        assert_eq!(refused.err().map(|error| error.code()), Some(code), "`{command}` in {}", cwd.display());
    }
    let token = CancellationToken::new();
    token.cancel();
    let late = executor.run(RunRequest::new("true", folder), token).await;
    assert_eq!(late.err().map(|error| error.code()), Some("BASH_CANCELLED_BEFORE_START"));
}
