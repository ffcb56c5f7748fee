//! What happened: facts that do not imply each other.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The facts of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not the states of one machine")]
pub struct RunResult {
    /// The shell that ran it.
    pub shell: Shell,
    /// The directory it ran in.
    pub cwd: PathBuf,
    /// The shell's exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended the shell, if one did.
    pub signal: Option<i32>,
    /// Whether the timeout passed first. Never together with `cancelled`.
    pub timed_out: bool,
    /// Whether the caller cancelled first.
    pub cancelled: bool,
    /// The timeout that was in force.
    pub timeout: Duration,
    /// How long it took.
    pub duration: Duration,
    /// Whether children were still running (in the background, or when the time was up) and had to be killed.
    pub descendants_killed: bool,
    /// Whether children are still running because they could not be killed.
    pub descendants_left: bool,
    /// Stdout and stderr together, in the order in which they were written.
    pub output: RunOutput,
}

impl RunResult {
    /// A result in which nothing has happened yet, to be filled in by an executor.
    pub fn new(shell: Shell, cwd: impl Into<PathBuf>) -> Self {
        Self {
            shell,
            cwd: cwd.into(),
            exit_code: None,
            signal: None,
            timed_out: false,
            cancelled: false,
            timeout: Duration::ZERO,
            duration: Duration::ZERO,
            descendants_killed: false,
            descendants_left: false,
            output: RunOutput::default(),
        }
    }

    /// Whether the command ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out && !self.cancelled
    }
}

/// The output of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunOutput {
    /// The output as text. If it was longer than the cap: its beginning, a line that says how many bytes are
    /// omitted, and its end.
    pub text: String,
    /// The true length in bytes.
    pub total_bytes: u64,
    /// Bytes that are not in `text`; 0 if it is whole.
    pub omitted_bytes: u64,
    /// What became of the full output, if it was longer than the cap and the executor saves such outputs.
    pub spill: Option<SpilledOutput>,
}

impl RunOutput {
    /// An output that fits.
    pub fn whole(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { total_bytes: text.len() as u64, text, ..Self::default() }
    }

    /// Whether something is omitted.
    pub fn truncated(&self) -> bool {
        self.omitted_bytes > 0
    }
}

/// An output that was saved because it is too long for a result, or the reason why it was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpilledOutput {
    /// The file, on the executor's machine.
    pub path: Option<PathBuf>,
    /// The length of the file.
    pub bytes: u64,
    /// Whether the file holds the whole output. If not, it holds the beginning.
    pub complete: bool,
    /// Why there is no file.
    pub error: Option<String>,
}

/// A shell on the executor's machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// What it understands.
    pub kind: ShellKind,
    /// Where it is.
    pub path: PathBuf,
}

/// What a shell understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellKind {
    /// GNU Bash.
    Bash,
    /// Some POSIX shell: `[[`, arrays and process substitution may be missing.
    Sh,
}

impl fmt::Display for ShellKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bash => "bash",
            Self::Sh => "sh",
        })
    }
}
