//! Turns a specification into a started process, or into an error that names the real cause.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::Access;
use tokio_util::sync::CancellationToken;

use crate::error::ProcessError;
use crate::leader::{Leader, OwnedTree};
use crate::spawn::{Streams, spawn};
use crate::spec::{Capture, ProcessSpec, Stdin};
use crate::tree::PipeIds;

/// A started process and our ends of its pipes.
pub(crate) struct Launched {
    pub(crate) tree: OwnedTree,
    pub(crate) stdin: Option<OwnedFd>,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: Option<OwnedFd>,
}

/// Starts the process, unless that was `abandoned` meanwhile. Blocks; see [`crate::starter`] for the thread.
pub(crate) fn launch(spec: &ProcessSpec, abandoned: &CancellationToken) -> Result<Launched, ProcessError> {
    refuse_nul(spec)?;
    if abandoned.is_cancelled() {
        return Err(ProcessError::CancelledBeforeStart);
    }
    try_launch(spec).map_err(|source| explain(spec, source))
}

fn try_launch(spec: &ProcessSpec) -> io::Result<Launched> {
    let (child_stdin, stdin) = match &spec.stdin {
        Stdin::Null => (OwnedFd::from(File::open("/dev/null")?), None),
        Stdin::Bytes(_) => {
            let (reader, writer) = io::pipe()?;
            (reader.into(), Some(OwnedFd::from(writer)))
        }
    };
    let (stdout, stdout_writer) = io::pipe()?;
    let (stderr, stderr_writer) = match spec.capture {
        Capture::Merged => (None, stdout_writer.try_clone()?),
        Capture::Separate => {
            let (stderr, stderr_writer) = io::pipe()?;
            (Some(OwnedFd::from(stderr)), stderr_writer)
        }
    };
    let stdout = OwnedFd::from(stdout);
    let pipes = PipeIds::of([Some(&stdout), stderr.as_ref()].into_iter().flatten());
    // The child's ends are closed here when it has started.
    let streams = Streams { stdin: child_stdin, stdout: stdout_writer.into(), stderr: stderr_writer.into() };
    let pid = spawn(spec, streams)?;
    Ok(Launched { tree: OwnedTree::new(Leader::new(pid), pipes), stdin, stdout, stderr })
}

fn refuse_nul(spec: &ProcessSpec) -> Result<(), ProcessError> {
    let has_nul = |text: &OsStr| text.as_bytes().contains(&0);
    let part = if has_nul(&spec.program) {
        "program"
    } else if spec.args.iter().any(|arg| has_nul(arg)) {
        "arguments"
    } else if spec.env.iter().any(|(name, value)| has_nul(name) || has_nul(value)) {
        "environment"
    } else if has_nul(spec.cwd.as_os_str()) {
        "working directory"
    } else {
        return Ok(());
    };
    Err(ProcessError::NulByte { program: spec.program.clone(), part })
}

fn check_directory(path: &Path) -> Result<(), ProcessError> {
    let unusable = |source| ProcessError::WorkingDirectoryUnusable { path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            rustix::fs::access(path, Access::EXEC_OK).map_err(|error| unusable(error.into()))
        }
        Ok(_) => Err(unusable(io::ErrorKind::NotADirectory.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(ProcessError::WorkingDirectoryMissing { path: path.to_owned() })
        }
        Err(error) => Err(unusable(error)),
    }
}

/// The system reports a vanished directory and a missing program with the same number: look again.
fn explain(spec: &ProcessSpec, source: io::Error) -> ProcessError {
    if let Err(error) = check_directory(&spec.cwd) {
        return error;
    }
    let program = spec.program.clone();
    match source.kind() {
        // A path that exists but is "not found" is a script whose interpreter is missing.
        io::ErrorKind::NotFound if Path::new(&program).exists() => {
            ProcessError::ProgramNotExecutable { program, source }
        }
        io::ErrorKind::NotFound => ProcessError::ProgramNotFound { program },
        io::ErrorKind::PermissionDenied => ProcessError::ProgramNotExecutable { program, source },
        io::ErrorKind::ArgumentListTooLong => {
            let argument_bytes = spec.args.iter().map(|arg| arg.len()).sum();
            ProcessError::ArgumentsTooLong { program, argument_bytes }
        }
        _ => ProcessError::Start { program, source },
    }
}
