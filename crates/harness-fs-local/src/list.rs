//! Directory lists.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use harness_fs::{DirectoryEntry, DirectoryList, FileKind, FsError, ResolvedPath};
use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

use crate::directory::Directory;
use crate::failure::failure;
use crate::state::kind_of;

/// See [`FileSystem::list_dir`](harness_fs::FileSystem::list_dir). Memory is bounded by `limit`, not by the directory.
pub(crate) fn list(path: &ResolvedPath, limit: usize) -> Result<DirectoryList, FsError> {
    let directory = Directory::open(path.real(), false).map_err(|error| failure(path, "open", error))?;
    let (entries, total) = first_names(&directory, limit).map_err(|error| failure(path, "list", error))?;
    let entries = entries.into_iter().map(|(name, kind)| DirectoryEntry { name, kind }).collect();
    Ok(DirectoryList { entries, total })
}

fn first_names(directory: &Directory, limit: usize) -> Result<(BTreeMap<OsString, FileKind>, u64), Errno> {
    let mut names = BTreeMap::new();
    let mut total = 0;
    for entry in Dir::read_from(directory.fd())? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        total += 1;
        names.insert(OsStr::from_bytes(name).to_owned(), entry.file_type());
        if names.len() > limit {
            names.pop_last();
        }
    }
    let with_kind = names.into_iter().map(|(name, file_type)| {
        // Some file systems do not say in the list.
        let kind = match file_type {
            FileType::Unknown => directory.state(&name)?.map_or(FileKind::Other, |state| state.kind()),
            known => kind_of(known),
        };
        Ok((name, kind))
    });
    Ok((with_kind.collect::<Result<_, Errno>>()?, total))
}
