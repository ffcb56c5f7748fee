//! The shell cases H01, H02 and H04, and what else a command must be able to count on.

#[cfg(test)]
mod workbench;

use std::time::{Duration, Instant};

use harness_bash::{BashExecutor as _, RunRequest, ShellKind};
use tokio_util::sync::CancellationToken;
use workbench::{Workbench, alive};

#[tokio::test]
async fn h01_a_background_child_keeps_neither_the_result_nor_itself() {
    let bench = Workbench::new();
    let begun = Instant::now();
    let result = bench.run("sleep 300 & echo $!; echo ready").await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    let (pid, rest) = result.output.text.split_once('\n').unwrap();
    assert_eq!((rest, result.exit_code), ("ready\n", Some(0)));
    assert!(result.descendants_killed && !alive(pid));

    let redirected = bench.run("sleep 300 >/dev/null 2>&1 & echo $!").await;
    assert!(redirected.success() && redirected.descendants_killed && !alive(redirected.output.text.trim()));
}

#[tokio::test]
async fn h02_a_timeout_takes_the_whole_tree() {
    let bench = Workbench::new();
    let command = "bash -c 'sleep 301 & echo $!; echo $$; sleep 302' ; echo never";
    let request = RunRequest::new(command, bench.workspace.path()).timeout(Duration::from_secs(1));
    let begun = Instant::now();
    let result = bench.attempt(request).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert!(result.timed_out && !result.success() && result.timeout == Duration::from_secs(1));
    assert!(!result.output.text.contains("never"));
    let pids: Vec<&str> = result.output.text.lines().collect();
    assert_eq!(pids.len(), 2, "{pids:?}");
    assert!(!pids.into_iter().any(alive));
    assert_eq!(bench.run("echo ok").await.output.text, "ok\n");
}

#[tokio::test]
async fn h04_a_deleted_working_directory_is_named_and_works_again_once_recreated() {
    let bench = Workbench::new();
    let cwd = bench.workspace.path().join("a/b");
    bench.run("mkdir -p a/b").await;
    assert!(bench.run_in(&cwd, "rm -rf \"$PWD\"").await.unwrap().success());
    for command in ["echo alive", "cd / && pwd"] {
        let error = bench.run_in(&cwd, command).await.unwrap_err();
        assert_eq!(error.code(), "BASH_CWD_MISSING");
        let expected =
            format!("working directory {} does not exist; recreate it or pass another", cwd.display());
        assert_eq!(error.to_string(), expected);
    }
    bench.run("mkdir -p a/b").await;
    assert_eq!(bench.run_in(&cwd, "echo alive").await.unwrap().output.text, "alive\n");
}

#[tokio::test]
async fn a_working_directory_that_is_a_file_is_said_to_be_unusable() {
    let bench = Workbench::new();
    bench.run("echo > file").await;
    let error = bench.run_in(&bench.workspace.path().join("file"), "pwd").await.unwrap_err();
    assert_eq!(error.code(), "BASH_CWD_UNUSABLE");
}

#[tokio::test]
async fn a_link_to_the_working_directory_keeps_its_name() {
    let bench = Workbench::new();
    bench.run("mkdir real && ln -s real link").await;
    let link = bench.workspace.path().join("link");
    assert_eq!(bench.run_in(&link, "pwd").await.unwrap().output.text, format!("{}\n", link.display()));
}

#[tokio::test]
async fn bash_is_bash() {
    let bench = Workbench::new();
    if bench.bash.describe().shell == ShellKind::Bash {
        let result = bench.run("a=(x y); [[ ${#a[@]} == 2 ]] && echo \"${BASH_VERSION:+yes}\"").await;
        assert_eq!(result.output.text, "yes\n");
        assert_eq!(result.shell.kind, ShellKind::Bash);
    }
}

#[tokio::test]
async fn a_command_may_start_with_a_dash_and_have_many_lines() {
    let bench = Workbench::new();
    assert_eq!(bench.run("-x").await.exit_code, Some(127), "not taken for an option of the shell");
    assert_eq!(bench.run("cat <<'END'\n$HOME\nEND\necho two").await.output.text, "$HOME\ntwo\n");
}

#[tokio::test]
async fn a_command_too_long_for_the_system_is_refused_with_a_remedy() {
    let bench = Workbench::new();
    let error =
        bench.run_in(bench.workspace.path(), &format!("true {}", "x".repeat(9_999_995))).await.unwrap_err();
    assert_eq!(error.code(), "BASH_COMMAND_TOO_LONG");
    assert!(error.to_string().contains("10000000 bytes"), "{error}");
}

#[tokio::test]
async fn a_signal_is_a_fact() {
    let result = Workbench::new().run("kill -9 $$").await;
    assert_eq!((result.exit_code, result.signal, result.success()), (None, Some(9), false));
}

#[tokio::test]
async fn cancellation_ends_what_runs() {
    let bench = Workbench::new();
    let cancel = CancellationToken::new();
    let request = RunRequest::new("echo $$ > pid; sleep 300", bench.workspace.path());
    let pid_file = bench.workspace.path().join("pid");
    let cancel_once_started = async {
        workbench::eventually("the command starts", || pid_file.metadata().is_ok_and(|file| file.len() > 0))
            .await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(bench.bash.run(request, cancel.clone()), cancel_once_started);
    let result = result.unwrap();
    assert!(result.cancelled && !result.timed_out && !result.success());
    assert!(!alive(bench.run("cat pid").await.output.text.trim()));
}
