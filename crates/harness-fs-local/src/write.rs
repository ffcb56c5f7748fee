//! Whole-file writes.

use std::borrow::Cow;
use std::fs::File;

use harness_fs::{
    Format, FsError, MAX_PREVIOUS_BYTES, Precondition, WriteOutcome, WriteRequest, decode_text, keep_format,
};
use rustix::fs::OFlags;

use crate::directory::Entry;
use crate::publish::{Replaces, publish};
use crate::read;
use crate::state::State;

/// See [`FileSystem::write_text`](harness_fs::FileSystem::write_text).
pub(crate) fn write(request: &WriteRequest) -> Result<WriteOutcome, FsError> {
    let path = || request.path.display().to_owned();
    let entry = match &request.precondition {
        Precondition::Any | Precondition::CreateOnly => Entry::create(&request.path)?,
        // Without its directory the guarded file is gone; none is made for it.
        Precondition::ReplaceVersion(_) => Entry::open(&request.path).map_err(|error| match error {
            FsError::NotFound { path } => FsError::Stale { path },
            other => other,
        })?,
    };
    let existing = entry.find()?;
    if let Some(state) = &existing {
        entry.require_regular(state)?;
    }
    match (&request.precondition, &existing) {
        (Precondition::CreateOnly, Some(_)) => return Err(FsError::AlreadyExists { path: path() }),
        (Precondition::ReplaceVersion(expected), found)
            if found.as_ref().map(State::version).as_ref() != Some(expected) =>
        {
            return Err(entry.stale());
        }
        _ => {}
    }
    let previous = match &existing {
        Some(state) if state.size() <= MAX_PREVIOUS_BYTES => previous(&entry, state)?,
        _ => None,
    };
    let content = match (&previous, request.format) {
        (Some(previous), Format::Keep) => keep_format(previous, &request.content),
        _ => Cow::Borrowed(request.content.as_str()),
    };
    let replaces = match (&existing, &request.precondition) {
        (Some(state), _) => Replaces::File(state),
        (None, Precondition::CreateOnly) => Replaces::Nothing,
        (None, _) => Replaces::Anything,
    };
    let state = publish(&entry, content.as_bytes(), &replaces)?;
    let size = content.len() as u64;
    Ok(WriteOutcome {
        version: state.version(),
        created: existing.is_none(),
        previous: previous.filter(|_| size <= MAX_PREVIOUS_BYTES),
        format_kept: matches!(content, Cow::Owned(_)),
        size,
    })
}

/// The text that will be replaced; nothing if it is not text, or may be written but not read.
fn previous(entry: &Entry<'_>, known: &State) -> Result<Option<String>, FsError> {
    let (mut file, state): (File, State) = match entry.open_file(OFlags::RDONLY) {
        Err(FsError::Io { source, .. }) if source.kind() == std::io::ErrorKind::PermissionDenied => {
            return Ok(None);
        }
        opened => opened?,
    };
    if state.version() != known.version() {
        return Err(entry.stale());
    }
    let bytes = read::whole(entry, &mut file, &state)?;
    Ok(decode_text(&bytes).ok().map(str::to_owned))
}
