//! Reading.

use std::fs::File;
use std::io::Read;

use harness_fs::{
    FileBytes, FsError, MAX_EDIT_BYTES, ResolvedPath, ScanError, TextPage, TextWindow, scan_text,
};
use rustix::fs::OFlags;

use crate::blocking::Stop;
use crate::directory::Entry;
use crate::state::State;

/// See [`FileSystem::read_text`](harness_fs::FileSystem::read_text). The version is that of the moment before the
/// first byte was read: a later change can only make it stale.
pub(crate) fn text(path: &ResolvedPath, window: TextWindow, stop: &Stop) -> Result<TextPage, FsError> {
    let (file, state) = Entry::open(path)?.open_file(OFlags::RDONLY)?;
    let slice = scan_text(&mut stop.reader(file), window).map_err(|error| match error {
        ScanError::NotText(reason) => FsError::NotText { path: path.display().to_owned(), reason },
        ScanError::Io(source) => FsError::Io { path: path.display().to_owned(), operation: "read", source },
        error => FsError::Internal { path: path.display().to_owned(), reason: error.to_string() },
    })?;
    Ok(TextPage { slice, size: state.size(), version: state.version() })
}

/// See [`FileSystem::read_bytes`](harness_fs::FileSystem::read_bytes).
pub(crate) fn bytes(path: &ResolvedPath, limit: u64, stop: &Stop) -> Result<FileBytes, FsError> {
    let (file, state) = Entry::open(path)?.open_file(OFlags::RDONLY)?;
    let mut bytes = Vec::new();
    let mut reader = stop.reader(file).take(limit.saturating_add(1));
    reader.read_to_end(&mut bytes).map_err(|source| FsError::Io {
        path: path.display().to_owned(),
        operation: "read",
        source,
    })?;
    let truncated = bytes.len() as u64 > limit;
    if truncated {
        bytes.pop();
    }
    Ok(FileBytes { bytes, truncated, version: state.version() })
}

/// Reads the whole of an open file that will be replaced or written over.
pub(crate) fn whole(entry: &Entry<'_>, file: &mut File, state: &State) -> Result<Vec<u8>, FsError> {
    let path = || entry.path.display().to_owned();
    let mut bytes = Vec::with_capacity(usize::try_from(state.size().min(MAX_EDIT_BYTES)).unwrap_or_default());
    file.take(MAX_EDIT_BYTES + 1).read_to_end(&mut bytes).map_err(|source| FsError::Io {
        path: path(),
        operation: "read",
        source,
    })?;
    if bytes.len() as u64 > MAX_EDIT_BYTES {
        let size = state.size().max(MAX_EDIT_BYTES + 1);
        return Err(FsError::TooLarge { path: path(), size, limit: MAX_EDIT_BYTES });
    }
    Ok(bytes)
}
