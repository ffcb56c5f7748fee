//! Tests that need outside packages: run by `.ci/run`, elsewhere skipped with a reason.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test fails by panicking, starts other programs and says why it is skipped"
)]

mod browser;
mod claude_hooks;
mod crates_alone;
mod export_page;
mod llmock;
mod llmock_faults;

use std::path::PathBuf;

/// Whether these tests are wanted; says why not.
pub(crate) fn wanted(what: &str) -> bool {
    let wanted = std::env::var_os("HARNESS_EXTERNAL_TESTS").is_some();
    if !wanted {
        eprintln!("skipped: {what}; set HARNESS_EXTERNAL_TESTS=1 to run it");
    }
    wanted
}

/// A folder for what these tests install and build, kept from run to run.
pub(crate) fn cache() -> PathBuf {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("external");
    std::fs::create_dir_all(&target).unwrap();
    target
}

/// Runs a program to its end.
pub(crate) fn succeed(command: &mut std::process::Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
    stdout.into_owned()
}
