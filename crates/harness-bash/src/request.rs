//! What to run.

use std::path::PathBuf;
use std::time::Duration;

/// One shell command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunRequest {
    /// The text for `bash -c`, one line or many.
    pub command: String,
    /// Absolute working directory on the executor's machine. It must exist.
    pub cwd: PathBuf,
    /// Time until the command is ended; the executor's default if absent, and never more than its maximum
    /// ([`crate::RunResult::timeout`] says what was in force).
    pub timeout: Option<Duration>,
    /// Bytes of output in the result, for callers that want fewer than the executor gives.
    pub output_cap_bytes: Option<usize>,
    /// Files of shell text that the command's own shell reads first, such as exports. One that cannot be read is
    /// skipped.
    pub setup: Vec<PathBuf>,
}

impl RunRequest {
    /// A command with the executor's timeout and output cap.
    pub fn new(command: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            command: command.into(),
            cwd: cwd.into(),
            timeout: None,
            output_cap_bytes: None,
            setup: Vec::new(),
        }
    }

    /// Sets the timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the output cap.
    #[must_use]
    pub fn output_cap(mut self, bytes: usize) -> Self {
        self.output_cap_bytes = Some(bytes);
        self
    }
}
