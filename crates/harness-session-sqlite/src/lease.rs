//! The writer lease: a file for each session that is in use, locked by the operating system.
//!
//! `SQLite`'s own locks are about the whole database and a moment; this one is about one session and a writer's life.
//! The system drops it when the process ends, however it ends. What stands in the file only tells people who has it.
use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use harness_session::SessionId;
use harness_session_persistence::{LeaseOwner, PersistenceError};

use crate::database::Place;
use crate::error::io;

/// Proof that this process may write a session.
#[derive(Debug)]
pub(crate) struct Lease {
    _file: File,
    path: PathBuf,
}

impl Lease {
    /// Takes the lease, or says who has it.
    pub(crate) fn take(place: &Place, id: SessionId) -> Result<Self, PersistenceError> {
        let path = place.lock(id);
        Place::make_folder(path.parent().unwrap_or(&place.root))?;
        loop {
            let file =
                File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
            let mut file = file.map_err(io("open", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(PersistenceError::InUse { id, owner: owner(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(io("lock", &path)(source)),
            }
            // The one before takes the name away while it still has the lock.
            let mine = file.metadata().map_err(io("look at", &path))?;
            if fs::metadata(&path).is_ok_and(|named| (named.dev(), named.ino()) == (mine.dev(), mine.ino())) {
                record(&mut file, &path);
                return Ok(Self { _file: file, path });
            }
        }
    }
}

impl Drop for Lease {
    /// Before the file is closed, so that the lock of the next owner cannot be hit.
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok(); // a file that stays is as harmless as that of a killed owner
    }
}

fn record(file: &mut File, path: &Path) {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    let since = since.and_then(|since| i64::try_from(since.as_millis()).ok());
    let owner = LeaseOwner { pid: process::id(), host: Some(host), since };
    let written = serde_json::to_vec(&owner)
        .map_err(std::io::Error::from)
        .and_then(|text| file.set_len(0).and_then(|()| file.write_all(&text)));
    if let Err(error) = written {
        tracing::warn!(%error, record = %path.display(), "others cannot be told who has the session");
    }
}

fn owner(file: &mut File) -> Option<LeaseOwner> {
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
