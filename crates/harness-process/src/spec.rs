//! What to run and how to treat it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::collector::OutputLimits;
use crate::error::ProcessError;
use crate::live::OutputChunk;
use crate::spill::SpillPolicy;

/// A process to run. Its environment is exactly `env`, its working directory exactly `cwd`; it gets the three
/// standard file descriptors and none that this program has opened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProcessSpec {
    /// A path, or a bare name that is looked up in the `PATH` of `env`.
    pub program: OsString,
    /// Arguments after the program's name. No shell looks at them.
    pub args: Vec<OsString>,
    /// Working directory; it must exist.
    pub cwd: PathBuf,
    /// The whole environment. A later entry replaces an earlier one of the same name.
    pub env: Vec<(OsString, OsString)>,
    /// What the process reads.
    pub stdin: Stdin,
    /// How its two output streams are collected.
    pub capture: Capture,
    /// One deadline for everything, counted from the call; none by default.
    pub timeout: Option<Duration>,
    /// Time between SIGTERM and SIGKILL; 500 ms by default.
    pub kill_grace: Duration,
    /// Patience with output after the process itself has ended.
    pub drain: DrainLimits,
    /// What happens to descendants that outlive the process.
    pub leftover: Leftover,
    /// Bytes kept in memory, for each collected stream.
    pub limits: OutputLimits,
    /// Where output beyond the limits is saved in full; nowhere by default.
    pub spill: Option<SpillPolicy>,
    /// Gets a copy of each chunk as it arrives. The reader never waits for this channel: a chunk that finds it
    /// full is skipped and counted in the next one ([`OutputChunk::missed_bytes`]).
    pub live: Option<mpsc::Sender<OutputChunk>>,
}

impl ProcessSpec {
    /// A process with no arguments, an empty environment, stdin null, separate streams and the default limits.
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            stdin: Stdin::Null,
            capture: Capture::Separate,
            timeout: None,
            kill_grace: Duration::from_millis(500),
            drain: DrainLimits::default(),
            leftover: Leftover::Kill,
            limits: OutputLimits::default(),
            spill: None,
            live: None,
        }
    }

    pub(crate) fn start_timed_out(&self, after: Duration) -> ProcessError {
        ProcessError::StartTimedOut { program: self.program.clone(), after }
    }

    /// Replaces the arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Replaces the environment.
    #[must_use]
    pub fn env<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        env: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// Sends these bytes to the process and then closes its stdin.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Bytes>) -> Self {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    /// Collects stdout and stderr as one stream, in the order of arrival.
    #[must_use]
    pub fn merge_stderr(mut self) -> Self {
        self.capture = Capture::Merged;
        self
    }

    /// Sets the deadline.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

/// What a process reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`.
    #[default]
    Null,
    /// These bytes, written while the output is being read; then end-of-file. A process that does not read them
    /// all is reported ([`crate::StdinOutcome`]), it is not an error.
    Bytes(Bytes),
}

/// How stdout and stderr are collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Capture {
    /// Each into its own collector.
    #[default]
    Separate,
    /// Both through the same pipe, so that their order is the kernel's.
    Merged,
}

/// What happens to descendants that outlive the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Leftover {
    /// SIGTERM, grace, SIGKILL.
    #[default]
    Kill,
    /// They go on; [`crate::ProcessOutcome::descendants_left`] reports them. Their later output is lost, and a
    /// deadline or a cancellation that comes before the process ends still kills them.
    Leave,
}

/// Patience with output after the process has ended while a descendant keeps the pipe open. Bytes that were in
/// the pipe when the process ended are read in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainLimits {
    /// Silence that ends the reading; 50 ms by default.
    pub idle: Duration,
    /// End of the reading even if output goes on; 250 ms by default.
    pub total: Duration,
}

impl Default for DrainLimits {
    fn default() -> Self {
        Self { idle: Duration::from_millis(50), total: Duration::from_millis(250) }
    }
}
