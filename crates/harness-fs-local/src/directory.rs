//! A directory held open, and a name in it.
//!
//! A resolved path has no links. Each of its directories is opened from the one above without following links, and
//! the file is then reached through the open directory only: whoever puts a link into the path after it was resolved
//! gets an error and not a write elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use harness_fs::{FileKind, FsError, ResolvedPath};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::failure::failure;
use crate::state::State;

/// To pass through a directory, the right to search it is enough on Linux; elsewhere it must be readable.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = OFlags::RDONLY;

/// A directory held open for as long as an operation lasts.
pub(crate) struct Directory(OwnedFd);

impl Directory {
    /// Opens a directory by its resolved path; with `create`, makes what is missing of it.
    pub(crate) fn open(path: &Path, create: bool) -> Result<Self, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut at = rustix::fs::openat(CWD, "/", PASS | flags, Mode::empty())?;
        for component in path.components() {
            let Component::Normal(name) = component else { continue };
            at = match rustix::fs::openat(&at, name, PASS | flags, Mode::empty()) {
                Err(Errno::NOENT) if create => {
                    make(&at, name)?;
                    rustix::fs::openat(&at, name, PASS | flags, Mode::empty())?
                }
                // A link and a file look the same to this call.
                Err(Errno::NOTDIR) if is_link(&at, name) => return Err(Errno::LOOP),
                other => other?,
            };
        }
        Ok(Self(rustix::fs::openat(&at, ".", OFlags::RDONLY | flags, Mode::empty())?))
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// What a name is, links not followed; `None` if there is nothing.
    pub(crate) fn state(&self, name: &OsStr) -> Result<Option<State>, Errno> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(State(stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes names that were put here last through a loss of power, where the file system can.
    pub(crate) fn sync(&self) -> Result<(), Errno> {
        sync(&self.0)
    }
}

/// Makes a directory, unless somebody else just did.
fn make(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
        Err(Errno::EXIST) => return Ok(()),
        result => result?,
    }
    match rustix::fs::openat(parent, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    {
        // Writable but not readable: the new name reaches the disk in its own time.
        Err(Errno::ACCESS) => Ok(()),
        opened => sync(&opened?),
    }
}

fn sync(directory: &OwnedFd) -> Result<(), Errno> {
    match rustix::fs::fsync(directory) {
        // Not every file system knows how to; there is nothing more to do then.
        Err(Errno::INVAL | Errno::NOTSUP | Errno::BADF) => Ok(()),
        result => result,
    }
}

fn is_link(directory: &OwnedFd, name: &OsStr) -> bool {
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| State(stat).kind() == FileKind::Symlink)
}

/// The last name of a resolved path, in its open directory.
pub(crate) struct Entry<'a> {
    pub(crate) directory: Directory,
    pub(crate) name: OsString,
    pub(crate) path: &'a ResolvedPath,
}

impl<'a> Entry<'a> {
    /// Opens the directory that the path lies in.
    pub(crate) fn open(path: &'a ResolvedPath) -> Result<Self, FsError> {
        Self::open_in(path, false)
    }

    /// The same, and makes what is missing of the directory.
    pub(crate) fn create(path: &'a ResolvedPath) -> Result<Self, FsError> {
        Self::open_in(path, true)
    }

    fn open_in(path: &'a ResolvedPath, create: bool) -> Result<Self, FsError> {
        // The root is the only path without a last name.
        let name = path.real().file_name().unwrap_or(OsStr::new(".")).to_owned();
        let parent = path.real().parent().unwrap_or(path.real());
        let operation = if create { "create the directory of" } else { "open the directory of" };
        let directory = Directory::open(parent, create).map_err(|error| failure(path, operation, error))?;
        Ok(Self { directory, name, path })
    }

    pub(crate) fn failure(&self, operation: &'static str, errno: Errno) -> FsError {
        failure(self.path, operation, errno)
    }

    /// What is there now.
    pub(crate) fn state(&self) -> Result<State, FsError> {
        self.find()?.ok_or_else(|| FsError::NotFound { path: self.path.display().to_owned() })
    }

    /// What is there now, if anything is.
    pub(crate) fn find(&self) -> Result<Option<State>, FsError> {
        let state = self.directory.state(&self.name).map_err(|error| self.failure("stat", error))?;
        match state {
            Some(state) if state.kind() == FileKind::Symlink => {
                Err(FsError::PathChanged { path: self.path.display().to_owned() })
            }
            state => Ok(state),
        }
    }

    /// Refuses everything but a regular file.
    pub(crate) fn require_regular(&self, state: &State) -> Result<(), FsError> {
        let path = || self.path.display().to_owned();
        match state.kind() {
            FileKind::File => Ok(()),
            FileKind::Directory => Err(FsError::IsDirectory { path: path() }),
            FileKind::Symlink => Err(FsError::PathChanged { path: path() }),
            kind => Err(FsError::NotRegular { path: path(), kind }),
        }
    }

    /// Opens the regular file that is there. It is looked at before it is opened, because opening alone can act on a
    /// device, and after, because it may have been replaced; no open waits for the other end of a pipe.
    pub(crate) fn open_file(&self, access: OFlags) -> Result<(File, State), FsError> {
        self.require_regular(&self.state()?)?;
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(self.directory.fd(), &self.name, flags, Mode::empty())
            .map_err(|error| self.failure("open", error))?;
        let state = State(rustix::fs::fstat(&fd).map_err(|error| self.failure("stat", error))?);
        self.require_regular(&state)?;
        Ok((File::from(fd), state))
    }

    /// Whether what is there now is still what `known` describes.
    pub(crate) fn require_unchanged(&self, known: &State) -> Result<(), FsError> {
        match self.find()? {
            Some(now) if now.version() == known.version() => Ok(()),
            _ => Err(self.stale()),
        }
    }

    pub(crate) fn stale(&self) -> FsError {
        FsError::Stale { path: self.path.display().to_owned() }
    }
}
