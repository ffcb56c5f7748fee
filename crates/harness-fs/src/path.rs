//! What a path means once every link is followed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::Version;

/// What kind of object a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A regular file: the only kind that is ever opened.
    File,
    /// A directory.
    Directory,
    /// A symbolic link. Only directory lists report it: resolution follows links.
    Symlink,
    /// A pipe, socket or device.
    Other,
}

/// A path as [`FileSystem::resolve`](crate::FileSystem::resolve) found it: the name to show and the place that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    display: String,
    real: PathBuf,
    kind: Option<FileKind>,
}

impl ResolvedPath {
    /// A path at which `kind` was found. `real` must be absolute and free of links.
    pub fn existing(display: impl Into<String>, real: impl Into<PathBuf>, kind: FileKind) -> Self {
        Self { display: display.into(), real: real.into(), kind: Some(kind) }
    }

    /// A path at which nothing exists yet. `real` is its resolved existing ancestor plus the missing names.
    pub fn absent(display: impl Into<String>, real: impl Into<PathBuf>) -> Self {
        Self { display: display.into(), real: real.into(), kind: None }
    }

    /// The path as it was asked for: what messages show.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// The absolute path without any link: what policy compares and what providers open.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// What was there when the path was resolved; `None` if nothing was.
    pub fn kind(&self) -> Option<FileKind> {
        self.kind
    }

    /// Whether something was there when the path was resolved.
    pub fn exists(&self) -> bool {
        self.kind.is_some()
    }
}

/// What is known of an existing file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the content, where the provider knows it.
    pub modified: Option<SystemTime>,
    /// The state that this answer describes.
    pub version: Version,
}
