//! The seam.

use std::time::Duration;

use async_trait::async_trait;
use harness_kernel::Service;
use tokio_util::sync::CancellationToken;

use crate::{BashError, RunRequest, RunResult, ShellKind};

/// Runs shell commands somewhere: on this machine, in a sandbox, on another machine. The service name is `bash`.
///
/// Each command has a fresh shell: no start-up files, no terminal, nothing to read on stdin, and nothing that an
/// earlier command set. What happened is told as facts; a nonzero exit code, a signal, a timeout and a cancellation
/// are results, not errors. An executor leaves no process of a command behind when `run` returns or its future is
/// dropped, as far as its platform can tell.
///
/// Background jobs are not part of this trait: they will be a method of their own that returns a handle, so that an
/// executor without them stays complete.
///
/// ```
/// use harness_bash::{BashError, BashExecutor, BashInfo, RunOutput, RunRequest, RunResult, Shell, ShellKind};
/// use tokio_util::sync::CancellationToken;
///
/// struct Echo;
///
/// #[async_trait::async_trait]
/// impl BashExecutor for Echo {
///     fn describe(&self) -> BashInfo { BashInfo::new(ShellKind::Sh) }
///     async fn run(&self, request: RunRequest, _: CancellationToken) -> Result<RunResult, BashError> {
///         let mut result = RunResult::new(Shell { kind: ShellKind::Sh, path: "/bin/sh".into() }, request.cwd);
///         result.exit_code = Some(0);
///         result.output = RunOutput::whole(request.command);
///         Ok(result)
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let result = Echo.run(RunRequest::new("ls", "/"), CancellationToken::new()).await.unwrap();
/// assert!(result.success() && result.output.text == "ls");
/// # });
/// ```
#[async_trait]
pub trait BashExecutor: Send + Sync {
    /// What commands can count on. Stable while the executor lives: it ends up in tool descriptions.
    fn describe(&self) -> BashInfo;

    /// Runs one command to its end. `cancel` ends the command and all its children.
    ///
    /// # Errors
    /// Only if the command could not be run at all; see [`BashError`].
    async fn run(&self, request: RunRequest, cancel: CancellationToken) -> Result<RunResult, BashError>;
}

impl Service for dyn BashExecutor {
    const NAME: &'static str = "bash";
}

/// What commands can count on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BashInfo {
    /// The shell that will run the commands.
    pub shell: ShellKind,
    /// Timeout of a request that names none; 120 s by default.
    pub default_timeout: Duration,
    /// Longest timeout; a longer one is shortened to it. 600 s by default.
    pub max_timeout: Duration,
    /// Bytes of output that a result holds; 32 KiB by default.
    pub output_cap_bytes: usize,
}

impl BashInfo {
    /// The default limits.
    pub fn new(shell: ShellKind) -> Self {
        Self {
            shell,
            default_timeout: Duration::from_mins(2),
            max_timeout: Duration::from_mins(10),
            output_cap_bytes: 32 * 1024,
        }
    }

    /// The timeout that a request gets.
    pub fn effective_timeout(&self, request: &RunRequest) -> Duration {
        request.timeout.unwrap_or(self.default_timeout).min(self.max_timeout)
    }

    /// The number of bytes that a request's result holds.
    pub fn effective_output_cap(&self, request: &RunRequest) -> usize {
        request.output_cap_bytes.unwrap_or(self.output_cap_bytes).min(self.output_cap_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_can_ask_for_less_but_not_for_more() {
        let info = BashInfo::new(ShellKind::Bash);
        let mut request = RunRequest::new("true", "/");
        assert_eq!(info.effective_timeout(&request), Duration::from_mins(2));
        assert_eq!(info.effective_output_cap(&request), 32 * 1024);
        request.timeout = Some(Duration::from_secs(3));
        request.output_cap_bytes = Some(10);
        assert_eq!(
            (info.effective_timeout(&request), info.effective_output_cap(&request)),
            (Duration::from_secs(3), 10)
        );
        request.timeout = Some(Duration::MAX);
        request.output_cap_bytes = Some(usize::MAX);
        assert_eq!(info.effective_timeout(&request), Duration::from_mins(10));
        assert_eq!(info.effective_output_cap(&request), 32 * 1024);
    }
}
