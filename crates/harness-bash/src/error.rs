//! Why a command could not be run at all.

use std::path::PathBuf;
use std::time::Duration;

/// Failure to run a command. How a command ends is never one of these: that is in [`crate::RunResult`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BashError {
    /// The working directory is gone or never was.
    #[error("working directory {} does not exist; recreate it or pass another", path.display())]
    WorkingDirectoryMissing {
        /// The directory asked for.
        path: PathBuf,
    },
    /// The working directory is there but cannot be used.
    #[error("working directory {} cannot be used; pass a directory that may be entered", path.display())]
    WorkingDirectoryUnusable {
        /// The path asked for.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Neither bash nor sh is there.
    #[error("no shell found: neither bash nor sh is in {searched}; install one or correct PATH")]
    ShellNotFound {
        /// The folders that were searched, as in `PATH`.
        searched: String,
    },
    /// The command is blank or has a NUL byte.
    #[error("command {problem}; pass the text of a shell command")]
    InvalidCommand {
        /// `is blank` or `holds a NUL byte`.
        problem: &'static str,
    },
    /// The command exceeds what the system passes to a shell.
    #[error("command is too long for the system: {bytes} bytes; write it to a file and run that")]
    CommandTooLong {
        /// Its length.
        bytes: usize,
    },
    /// Cancelled before anything was started.
    #[error("cancelled before the command was started")]
    CancelledBeforeStart,
    /// The shell was not started before the timeout.
    #[error("the shell was not started within {} ms; the machine or its file system does not answer", after.as_millis())]
    StartTimedOut {
        /// The timeout.
        after: Duration,
    },
    /// Anything else that kept the shell from running or its result from being known.
    #[error("the shell could not be run")]
    Failed {
        /// What the system said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl BashError {
    /// A stable identifier of the variant.
    pub fn code(&self) -> &'static str {
        match self {
            Self::WorkingDirectoryMissing { .. } => "BASH_CWD_MISSING",
            Self::WorkingDirectoryUnusable { .. } => "BASH_CWD_UNUSABLE",
            Self::ShellNotFound { .. } => "BASH_SHELL_NOT_FOUND",
            Self::InvalidCommand { .. } => "BASH_INVALID_COMMAND",
            Self::CommandTooLong { .. } => "BASH_COMMAND_TOO_LONG",
            Self::CancelledBeforeStart => "BASH_CANCELLED_BEFORE_START",
            Self::StartTimedOut { .. } => "BASH_START_TIMED_OUT",
            Self::Failed { .. } => "BASH_FAILED",
        }
    }
}
