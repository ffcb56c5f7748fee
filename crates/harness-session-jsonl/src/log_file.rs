//! The log of a session that this process writes.
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use harness_session::Seq;
use harness_session_persistence::PersistenceError;

use crate::layout::{Layout, io};
use crate::lease::Lease;

/// Where the log ends: bytes and events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) bytes: u64,
    pub(crate) next: Seq,
}

/// An open log with its lease. Earlier bytes are never rewritten.
#[derive(Debug)]
pub(crate) struct LogFile {
    // Dropped before the file: see `Lease`.
    _lease: Lease,
    file: File,
    path: PathBuf,
    layout: Layout,
    /// Where the next batch goes.
    end: End,
    /// What the device is known to have.
    synced: End,
    /// The size that the file has, as far as this process knows.
    size: u64,
    /// Whether the names that lead to the log are as safe as its data.
    named: bool,
}

impl LogFile {
    /// Takes over a log that ends at `end` and of which the device has what is before `synced`.
    pub(crate) fn new(
        lease: Lease,
        file: File,
        path: PathBuf,
        layout: &Layout,
        end: End,
        synced: End,
    ) -> Self {
        let (layout, size) = (layout.clone(), end.bytes);
        Self { _lease: lease, file, path, layout, end, synced, size, named: false }
    }
    pub(crate) fn next_seq(&self) -> Seq {
        self.end.next
    }

    /// Appends whole lines in one write, or nothing.
    pub(crate) fn append(&mut self, lines: &[u8], events: Seq) -> Result<(), PersistenceError> {
        self.check()?;
        if self.size > self.end.bytes {
            self.roll_back().map_err(io("truncate", &self.path))?;
        }
        if let Err(source) = self.file.write_all(lines) {
            let source = match self.roll_back() {
                Ok(()) => source,
                // The next append tries again before it writes.
                Err(second) => {
                    io::Error::new(source.kind(), format!("{source}; undoing it failed: {second}"))
                }
            };
            return Err(io("write", &self.path)(source));
        }
        self.end.bytes += lines.len() as u64;
        self.end.next += events;
        self.size = self.end.bytes;
        Ok(())
    }
    /// Waits for the device. After a failure what it did not have before counts as lost, since the system may
    /// have dropped it: it must be appended again.
    pub(crate) fn sync(&mut self) -> Result<(), PersistenceError> {
        if self.synced != self.end {
            if let Err(source) = self.file.sync_data() {
                self.end = self.synced;
                return Err(io("synchronise", &self.path)(source));
            }
            self.synced = self.end;
        }
        if !self.named {
            let folder = self.path.parent().unwrap_or(&self.path);
            self.layout.sync_folder(folder)?;
            self.layout.sync_folder(&self.layout.root)?;
            self.named = true;
        }
        Ok(())
    }

    fn roll_back(&mut self) -> io::Result<()> {
        let cut = self.file.set_len(self.end.bytes);
        self.size = match &cut {
            Ok(()) => self.end.bytes,
            Err(_) => self.file.metadata().map_or(self.size, |metadata| metadata.len()),
        };
        cut
    }
    /// Programs that do not know the lock may have changed the file.
    fn check(&self) -> Result<(), PersistenceError> {
        let metadata = self.file.metadata().map_err(io("look at", &self.path))?;
        let detail = if metadata.nlink() == 0 {
            "it was deleted".to_owned()
        } else if metadata.len() != self.size {
            format!("it has {} bytes instead of {}", metadata.len(), self.size)
        } else {
            return Ok(());
        };
        Err(PersistenceError::Stale { location: self.path.display().to_string(), detail })
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use harness_session_persistence::Durability;

    use super::*;
    use crate::config::Compression;

    /// A pipe takes bytes and cannot be synchronised.
    #[test]
    fn what_could_not_be_synchronised_counts_as_lost() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let layout = Layout { root, durability: Durability::Sync, compression: Compression::None };
        let path = folder.path().join("log.jsonl");
        let (_reader, writer) = std::io::pipe().unwrap();
        let file = File::from(OwnedFd::from(writer));
        let mut log = LogFile::new(Lease::record(&path), file, path, &layout, End::default(), End::default());
        log.append(b"{}\n", 1).unwrap();
        assert_eq!(log.next_seq(), 1);
        let error = log.sync().unwrap_err();
        assert_eq!(error.code(), "SESSION_IO");
        assert!(error.to_string().contains("cannot synchronise"), "{error}");
        assert_eq!(log.next_seq(), 0, "it must be appended again");
    }
}
