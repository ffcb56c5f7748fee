//! What a started process finds.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use files, and may panic")]

#[cfg(test)]
mod shell;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use harness_process::ProcessSpec;
use shell::sh;

fn script(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_bare_name_is_found_on_the_path_that_the_process_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a"), folder.path().join("b"));
    std::fs::create_dir(&first).unwrap();
    std::fs::create_dir(&second).unwrap();
    std::fs::write(first.join("tool"), "not to be run").unwrap();
    script(&second.join("tool"), "#!/bin/sh\necho \"second: $1\"\n");
    let path = format!("{}:{}:/bin", first.display(), second.display());
    let outcome = shell::run(ProcessSpec::new("tool", "/").args(["x"]).env([("PATH", path)])).await;
    assert_eq!(outcome.stdout.text(), "second: x\n");
}

#[tokio::test]
async fn a_script_that_names_no_interpreter_is_run_by_sh() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plain");
    script(&file, "echo \"$0 $1\"\n");
    let outcome = shell::run(ProcessSpec::new(&file, "/").args(["arg"])).await;
    assert_eq!(outcome.stdout.text(), format!("{} arg\n", file.display()));
}

#[tokio::test]
async fn no_variable_but_the_given_ones_and_the_last_of_a_name() {
    let spec = ProcessSpec::new("/usr/bin/env", "/").env([("A", "1"), ("B", "2"), ("A", "3")]);
    let mut lines: Vec<_> = shell::run(spec).await.stdout.text().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["A=3", "B=2"]);
}

/// The mask of a line of `/proc/self/status`.
#[cfg(target_os = "linux")]
fn mask(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn signals_are_as_a_shell_expects_them() {
    // This program handles a signal, and the Rust runtime ignores SIGPIPE: neither must reach the process.
    let _handled = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::user_defined1()).unwrap();
    let status =
        shell::run(ProcessSpec::new("/bin/cat", "/").args(["/proc/self/status"])).await.stdout.text();
    assert_eq!(mask(&status, "SigBlk:"), 0);
    assert_eq!(mask(&status, "SigCgt:"), 0);
    assert_eq!(mask(&status, "SigIgn:") & (1 << 12), 0, "SIGPIPE is ignored");
    // And the program itself keeps its own.
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    assert_eq!(mask(&own, "SigBlk:"), 0);
    assert_ne!(mask(&own, "SigCgt:") & (1 << 9), 0, "the handler is gone");
}

#[tokio::test]
async fn many_starts_at_once_keep_apart() {
    let runs = (0..40).map(|n| async move {
        let outcome = shell::run(sh(&format!("echo {n}; echo e{n} >&2"))).await;
        assert_eq!(outcome.stdout.text(), format!("{n}\n"));
        assert_eq!(outcome.stderr.unwrap().text(), format!("e{n}\n"));
    });
    let mut set = tokio::task::JoinSet::new();
    for run in runs {
        set.spawn(run);
    }
    set.join_all().await;
}
