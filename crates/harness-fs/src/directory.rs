//! Directory lists.

use std::ffi::OsString;

use crate::FileKind;

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The name, without its directory.
    pub name: OsString,
    /// What it is; links are not followed.
    pub kind: FileKind,
}

/// The first names of a directory in byte order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryList {
    /// At most the asked number of entries, sorted by the bytes of their names.
    pub entries: Vec<DirectoryEntry>,
    /// How many entries the directory has, `.` and `..` not counted.
    pub total: u64,
}
