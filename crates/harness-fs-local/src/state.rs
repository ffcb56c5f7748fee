//! What the system says of a file at one moment.

use std::time::{Duration, SystemTime};

use harness_fs::{FileKind, FileStat, Version};
use rustix::fs::{FileType, Stat};

/// One `stat` of a file.
#[derive(Clone, Copy)]
pub(crate) struct State(pub(crate) Stat);

impl State {
    pub(crate) fn kind(&self) -> FileKind {
        kind_of(FileType::from_raw_mode(self.0.st_mode))
    }

    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or_default()
    }

    /// Device and inode tell a replaced file, size and both times a changed one. The change time catches a writer that
    /// puts the modification time back.
    pub(crate) fn version(&self) -> Version {
        let Stat { st_dev, st_ino, st_size, st_mtime, st_mtime_nsec, st_ctime, st_ctime_nsec, .. } = self.0;
        Version::new(format!(
            "{st_dev}:{st_ino}:{st_size}:{st_mtime}.{st_mtime_nsec:09}:{st_ctime}.{st_ctime_nsec:09}"
        ))
    }

    pub(crate) fn is_hard_linked(&self) -> bool {
        self.0.st_nlink > 1
    }

    pub(crate) fn describe(&self) -> FileStat {
        let modified = || {
            let seconds = u64::try_from(self.0.st_mtime).ok()?;
            let nanoseconds = u32::try_from(self.0.st_mtime_nsec).ok()?;
            SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
        };
        FileStat { kind: self.kind(), size: self.size(), modified: modified(), version: self.version() }
    }
}

pub(crate) fn kind_of(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    }
}
