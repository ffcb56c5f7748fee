//! Why a process could not be run at all. Everything else is a fact of the outcome.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Failure to run a process. A nonzero exit, a signal, a deadline or a cancellation is not one of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The token was cancelled before anything was started: the program has not run.
    #[error("cancelled before the process was started")]
    CancelledBeforeStart,
    /// The working directory is gone or never was.
    #[error("working directory {} does not exist; recreate it or pass another", path.display())]
    WorkingDirectoryMissing {
        /// The directory asked for.
        path: PathBuf,
    },
    /// The working directory is there but cannot be entered.
    #[error("working directory {} cannot be used; pass a directory that this user may enter", path.display())]
    WorkingDirectoryUnusable {
        /// The path asked for.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// No such program.
    #[error("program {} not found; install it, or give its full path or a PATH that has it", program.display())]
    ProgramNotFound {
        /// The program asked for.
        program: OsString,
    },
    /// The program is no executable file, or this user may not run it.
    #[error("program {} cannot be executed; check its permissions and format", program.display())]
    ProgramNotExecutable {
        /// The program asked for.
        program: OsString,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Arguments and environment exceed what the system passes to a program.
    #[error(
        "arguments of {} are too long for the system: {argument_bytes} bytes; pass long input by stdin or a file",
        program.display()
    )]
    ArgumentsTooLong {
        /// The program asked for.
        program: OsString,
        /// Length of all arguments.
        argument_bytes: usize,
    },
    /// A NUL byte, which no argument, path or environment entry can hold.
    #[error("a NUL byte in the {part} of {}; remove it", program.display())]
    NulByte {
        /// The program asked for.
        program: OsString,
        /// Where the byte is: `program`, `arguments`, `environment` or `working directory`.
        part: &'static str,
    },
    /// The system did not start the program before the deadline, or did not answer a cancellation in time.
    #[error("program {} did not start within {} ms; it is killed should it still start", program.display(), after.as_millis())]
    StartTimedOut {
        /// The program asked for.
        program: OsString,
        /// How long was waited.
        after: Duration,
    },
    /// The system refused to start or to watch the process.
    #[error("cannot start {}", program.display())]
    Start {
        /// The program asked for.
        program: OsString,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The process has ended, but how is not known.
    #[error("the exit status of process {pid} is lost; the program must not ignore SIGCHLD")]
    StatusLost {
        /// Process id.
        pid: i32,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The process did not end after SIGKILL: the kernel holds it, for example on a dead network file system.
    #[error("process {pid} does not end after SIGKILL; the kernel holds it")]
    Unkillable {
        /// Process id.
        pid: i32,
    },
}

impl ProcessError {
    /// A stable identifier of the variant.
    pub fn code(&self) -> &'static str {
        match self {
            Self::CancelledBeforeStart => "PROCESS_CANCELLED_BEFORE_START",
            Self::WorkingDirectoryMissing { .. } => "PROCESS_CWD_MISSING",
            Self::WorkingDirectoryUnusable { .. } => "PROCESS_CWD_UNUSABLE",
            Self::ProgramNotFound { .. } => "PROCESS_PROGRAM_NOT_FOUND",
            Self::ProgramNotExecutable { .. } => "PROCESS_PROGRAM_NOT_EXECUTABLE",
            Self::ArgumentsTooLong { .. } => "PROCESS_ARGUMENTS_TOO_LONG",
            Self::NulByte { .. } => "PROCESS_NUL_BYTE",
            Self::StartTimedOut { .. } => "PROCESS_START_TIMED_OUT",
            Self::Start { .. } => "PROCESS_START",
            Self::StatusLost { .. } => "PROCESS_STATUS_LOST",
            Self::Unkillable { .. } => "PROCESS_UNKILLABLE",
        }
    }
}
