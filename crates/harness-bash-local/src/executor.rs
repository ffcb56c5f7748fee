//! The executor.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use harness_bash::{
    BashError, BashExecutor, BashInfo, RunOutput, RunRequest, RunResult, Shell, ShellKind, SpilledOutput,
};
use harness_process::{
    CapturedOutput, OutputLimits, ProcessError, ProcessOutcome, ProcessSpec, SpillOutcome, SpillPolicy,
};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::BashLocalConfig;
use crate::environment::environment;
use crate::limits::{BashLimits, InvalidLimits};
use crate::shell::find_shell;

/// Time beyond the kill grace that [`LocalBash::stop`] waits for commands to end.
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// Runs commands on this machine.
#[derive(Debug)]
pub struct LocalBash {
    limits: BashLimits,
    environment: Vec<(OsString, OsString)>,
    spill_directory: PathBuf,
    info: BashInfo,
    stopped: CancellationToken,
    running: TaskTracker,
}

impl LocalBash {
    /// Prepares the environment of all commands.
    ///
    /// # Errors
    /// If a limit makes no sense.
    pub fn new(config: &BashLocalConfig) -> Result<Self, InvalidLimits> {
        config.limits.validate()?;
        let environment = environment(config);
        // A machine without any shell is reported by the first command: that is when it matters.
        let kind = find_shell(&environment).map_or(ShellKind::Sh, |shell| shell.kind);
        Ok(Self {
            limits: config.limits.clone(),
            environment,
            spill_directory: config.spill_directory.clone(),
            info: config.limits.info(kind),
            stopped: CancellationToken::new(),
            running: TaskTracker::new(),
        })
    }

    /// Ends all running commands and waits until they are gone. Later ones are refused as cancelled.
    pub async fn stop(&self) {
        self.stopped.cancel();
        self.running.close();
        let patience = Duration::from_millis(self.limits.kill_grace_ms).saturating_add(STOP_PATIENCE);
        if tokio::time::timeout(patience, self.running.wait()).await.is_err() {
            tracing::warn!(commands = self.running.len(), "commands are still running: nobody awaits them");
        }
    }

    fn spec(&self, request: &RunRequest, shell: &Shell) -> ProcessSpec {
        let mut spec = ProcessSpec::new(&shell.path, &request.cwd)
            // After `--` a command may start with a dash.
            .args([OsString::from("-c"), "--".into(), with_setup(request)])
            .env(self.environment.iter().cloned().chain([("PWD".into(), request.cwd.clone().into())]))
            .merge_stderr()
            .timeout(self.info.effective_timeout(request));
        spec.kill_grace = Duration::from_millis(self.limits.kill_grace_ms);
        spec.limits = OutputLimits::with_cap(self.info.effective_output_cap(request));
        let policy =
            SpillPolicy { cap_bytes: self.limits.spill_cap_bytes, ..SpillPolicy::new(&self.spill_directory) };
        spec.spill = Some(policy);
        spec
    }

    async fn run_unless_stopped(
        &self,
        spec: ProcessSpec,
        cancel: &CancellationToken,
    ) -> Result<ProcessOutcome, ProcessError> {
        let _running = self.running.token();
        if self.stopped.is_cancelled() {
            return Err(ProcessError::CancelledBeforeStart);
        }
        let either = cancel.child_token();
        let mut run = std::pin::pin!(harness_process::run(spec, either.clone()));
        tokio::select! {
            outcome = &mut run => outcome,
            () = self.stopped.cancelled() => {
                either.cancel();
                run.await
            }
        }
    }
}

#[async_trait]
impl BashExecutor for LocalBash {
    fn describe(&self) -> BashInfo {
        self.info.clone()
    }

    async fn run(&self, request: RunRequest, cancel: CancellationToken) -> Result<RunResult, BashError> {
        if request.command.trim().is_empty() {
            return Err(BashError::InvalidCommand { problem: "is blank" });
        }
        if request.command.contains('\0') {
            return Err(BashError::InvalidCommand { problem: "holds a NUL byte" });
        }
        let shell = find_shell(&self.environment)?;
        let spec = self.spec(&request, &shell);
        let timeout = self.info.effective_timeout(&request);
        let outcome =
            self.run_unless_stopped(spec, &cancel).await.map_err(|error| explain(error, &request))?;
        let mut result = RunResult::new(shell, request.cwd);
        result.exit_code = outcome.exit_code;
        result.signal = outcome.signal;
        result.timed_out = outcome.timed_out;
        result.cancelled = outcome.cancelled;
        result.timeout = timeout;
        result.duration = outcome.duration;
        result.descendants_killed = outcome.descendants_killed;
        result.descendants_left = outcome.descendants_left;
        result.output = output(outcome.stdout);
        Ok(result)
    }
}

/// The command after its setup files, each of which is read by the same shell.
fn with_setup(request: &RunRequest) -> OsString {
    let mut text = OsString::new();
    for file in &request.setup {
        let mut quoted = Vec::new();
        for byte in file.as_os_str().as_bytes() {
            match byte {
                b'\'' => quoted.extend(br"'\''"),
                byte => quoted.push(*byte),
            }
        }
        let quoted = OsString::from_vec(quoted);
        text.push("[ -r '");
        text.push(&quoted);
        text.push("' ] && . '");
        text.push(quoted);
        text.push("'\n");
    }
    text.push(&request.command);
    text
}

fn output(captured: CapturedOutput) -> RunOutput {
    let mut output = RunOutput::whole(captured.text());
    output.total_bytes = captured.total_bytes();
    output.omitted_bytes = captured.kept.omitted_bytes();
    output.spill = captured.spill.map(spilled);
    output
}

fn spilled(outcome: SpillOutcome) -> SpilledOutput {
    let error = outcome.error.map(|error| with_causes(&error));
    SpilledOutput { path: outcome.path, bytes: outcome.bytes, complete: outcome.complete, error }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn explain(error: ProcessError, request: &RunRequest) -> BashError {
    match error {
        ProcessError::WorkingDirectoryMissing { path } => BashError::WorkingDirectoryMissing { path },
        ProcessError::WorkingDirectoryUnusable { path, source } => {
            BashError::WorkingDirectoryUnusable { path, source: source.into() }
        }
        ProcessError::ArgumentsTooLong { .. } => BashError::CommandTooLong { bytes: request.command.len() },
        ProcessError::CancelledBeforeStart => BashError::CancelledBeforeStart,
        ProcessError::StartTimedOut { after, .. } => BashError::StartTimedOut { after },
        other => BashError::Failed { source: other.into() },
    }
}
