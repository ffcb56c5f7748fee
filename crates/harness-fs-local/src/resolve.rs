//! Follows links the way the system does, one name at a time, and goes on past the first name that does not exist.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use harness_fs::{FileKind, FsError, ResolvedPath};
use rustix::fs::FileType;

use crate::state::kind_of;

/// Most links followed in one path: the limit of Linux.
const MAX_LINKS: usize = 40;

enum Step {
    Root,
    Parent,
    Name(OsString),
}

/// See [`FileSystem::resolve`](harness_fs::FileSystem::resolve).
pub(crate) fn resolve(cwd: &Path, path: &str) -> Result<ResolvedPath, FsError> {
    let invalid = |reason| Err(FsError::InvalidPath { path: path.to_owned(), reason });
    if path.is_empty() {
        return invalid("it is empty");
    }
    if path.contains('\0') {
        return invalid("it contains a NUL character");
    }
    if !cwd.is_absolute() {
        return invalid("the working directory that it starts from is not absolute");
    }
    let (real, kind) = walk(&cwd.join(path), path)?;
    if path.ends_with('/') || path.ends_with("/.") {
        match kind {
            Some(FileKind::Directory) => {}
            Some(_) => return Err(FsError::NotDirectory { path: path.to_owned() }),
            None => {
                return invalid(
                    "it names a directory that does not exist; to name a file, end it with the name",
                );
            }
        }
    }
    Ok(match kind {
        Some(kind) => ResolvedPath::existing(path, real, kind),
        None => ResolvedPath::absent(path, real),
    })
}

fn walk(path: &Path, display: &str) -> Result<(PathBuf, Option<FileKind>), FsError> {
    let failed = |source| FsError::Io { path: display.to_owned(), operation: "resolve", source };
    let mut pending = Vec::new();
    push(&mut pending, path);
    let mut real = PathBuf::from("/");
    let mut kind = Some(FileKind::Directory);
    let mut links = 0;
    while let Some(step) = pending.pop() {
        match (step, kind) {
            (Step::Root, _) => {
                real = PathBuf::from("/");
                kind = Some(FileKind::Directory);
            }
            (Step::Parent, Some(FileKind::Directory)) => {
                real.pop();
            }
            (Step::Name(name), Some(FileKind::Directory)) => {
                let candidate = real.join(name);
                match fs::symlink_metadata(&candidate) {
                    Ok(metadata) if metadata.is_symlink() => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(failed(rustix::io::Errno::LOOP.into()));
                        }
                        push(&mut pending, &fs::read_link(&candidate).map_err(failed)?);
                    }
                    Ok(metadata) => {
                        kind = Some(kind_of(file_type(&metadata)));
                        real = candidate;
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        kind = None;
                        real = candidate;
                    }
                    Err(error) => return Err(failed(error)),
                }
            }
            (Step::Name(name), None) => real.push(name),
            (Step::Parent, None) => return Err(FsError::NotFound { path: real.display().to_string() }),
            (Step::Name(_) | Step::Parent, Some(_)) => {
                return Err(FsError::NotDirectory { path: real.display().to_string() });
            }
        }
    }
    Ok((real, kind))
}

/// Puts the steps of `path` on top of the stack, the first one uppermost.
fn push(pending: &mut Vec<Step>, path: &Path) {
    pending.extend(path.components().rev().filter_map(|component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Parent),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    }));
}

fn file_type(metadata: &fs::Metadata) -> FileType {
    if metadata.is_file() {
        FileType::RegularFile
    } else if metadata.is_dir() {
        FileType::Directory
    } else {
        FileType::Unknown
    }
}
