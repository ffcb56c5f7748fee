//! Overwrites a file where it is.
//!
//! Not atomic: a reader can find a mixture, and a crash can leave one. What can be done against a failure is done:
//! space is reserved before the first byte changes, and the old bytes are put back after an error.

use std::fs::File;
use std::os::unix::fs::FileExt;

use harness_fs::FsError;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::directory::Entry;
use crate::read;
use crate::state::State;

/// Overwrites the file that is in the state `known`.
pub(crate) fn overwrite(entry: &Entry<'_>, content: &[u8], known: &State) -> Result<State, FsError> {
    let (mut file, state) = entry.open_file(OFlags::RDWR)?;
    if state.version() != known.version() {
        return Err(entry.stale());
    }
    let old = read::whole(entry, &mut file, &state)?;
    reserve(&file, old.len(), content.len()).map_err(|error| entry.failure("reserve space for", error))?;
    if let Err(error) = fill(&file, content) {
        let path = entry.path.display().to_owned();
        return Err(match fill(&file, &old) {
            Ok(()) => FsError::Io { path, operation: "write", source: error },
            Err(_) => FsError::Damaged { path, operation: "write", source: error },
        });
    }
    Ok(State(rustix::fs::fstat(&file).map_err(|error| entry.failure("stat", error))?))
}

fn fill(file: &File, content: &[u8]) -> std::io::Result<()> {
    file.write_all_at(content, 0)?;
    file.set_len(content.len() as u64)?;
    file.sync_all()
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, old: usize, new: usize) -> Result<(), Errno> {
    if new <= old {
        return Ok(());
    }
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, 0, new as u64) {
        // Not every file system can promise space.
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        result => result,
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_: &File, _: usize, _: usize) -> Result<(), Errno> {
    Ok(())
}
