//! An executor with a workspace and a spill folder that go away with it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use harness_bash::{BashError, BashExecutor as _, RunRequest, RunResult};
use harness_bash_local::{BashLocalConfig, LocalBash};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Longer than anything here should take: only a hang reaches it.
const HANG: Duration = Duration::from_mins(1);

pub(crate) struct Workbench {
    pub(crate) bash: LocalBash,
    pub(crate) workspace: TempDir,
    pub(crate) spill: TempDir,
}

impl Workbench {
    pub(crate) fn new() -> Self {
        Self::with(&[], |_| {})
    }

    pub(crate) fn with(environment: &[(&str, &str)], change: impl FnOnce(&mut BashLocalConfig)) -> Self {
        let (workspace, spill) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = [("PATH", "/usr/local/bin:/usr/bin:/bin")];
        let environment =
            path.iter().chain(environment).map(|(name, value)| (OsString::from(name), value.into()));
        let mut config = BashLocalConfig::new(environment, spill.path());
        change(&mut config);
        Self { bash: LocalBash::new(&config).unwrap(), workspace, spill }
    }

    pub(crate) async fn attempt(&self, request: RunRequest) -> Result<RunResult, BashError> {
        tokio::time::timeout(HANG, self.bash.run(request, CancellationToken::new())).await.expect("it hangs")
    }

    pub(crate) async fn run(&self, command: &str) -> RunResult {
        self.attempt(RunRequest::new(command, self.workspace.path())).await.unwrap()
    }

    pub(crate) async fn run_in(&self, folder: &Path, command: &str) -> Result<RunResult, BashError> {
        self.attempt(RunRequest::new(command, folder)).await
    }
}

/// Whether a process is alive, and not a zombie where that can be told.
#[expect(clippy::disallowed_methods, reason = "looks at the world")]
pub(crate) fn alive(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']),
        Err(_) if cfg!(target_os = "linux") => false,
        Err(_) => {
            let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
            rustix::process::test_kill_process(pid).is_ok()
        }
    }
}

/// Polls the world until it is so.
pub(crate) async fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < HANG, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
