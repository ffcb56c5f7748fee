//! Literal edits.

use harness_fs::{EditOutcome, EditRequest, FsError, apply_edit, decode_text};
use rustix::fs::OFlags;

use crate::directory::Entry;
use crate::publish::{Replaces, publish};
use crate::read;

/// See [`FileSystem::edit_text`](harness_fs::FileSystem::edit_text). The state that was read must still be there when
/// the result is put in its place, guard or no guard.
pub(crate) fn edit(request: &EditRequest) -> Result<EditOutcome, FsError> {
    let path = || request.path.display().to_owned();
    let entry = Entry::open(&request.path)?;
    let (mut file, state) = entry.open_file(OFlags::RDONLY)?;
    request.check_version(&state.version())?;
    let bytes = read::whole(&entry, &mut file, &state)?;
    drop(file);
    let source = decode_text(&bytes).map_err(|reason| FsError::NotText { path: path(), reason })?;
    let edited = apply_edit(source, &request.old, &request.new, request.replace_all)
        .map_err(|refusal| FsError::Edit { path: path(), refusal })?;
    let state = publish(&entry, edited.text.as_bytes(), &Replaces::File(&state))?;
    Ok(EditOutcome { version: state.version(), changes: edited.changes })
}
