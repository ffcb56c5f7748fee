//! Puts finished content in place.

use harness_fs::FsError;
use rustix::fs::{Access, AtFlags, OFlags};
use rustix::io::Errno;

use crate::directory::Entry;
use crate::in_place;
use crate::staged::Staged;
use crate::state::State;

/// What may be at the target.
pub(crate) enum Replaces<'a> {
    /// This file, in this state; its mode, owner and attributes go over to the new content.
    File(&'a State),
    /// Nothing: what has appeared meanwhile is spared.
    Nothing,
    /// Nothing was there, and it does not matter what has appeared meanwhile.
    Anything,
}

/// Writes the content beside the target and renames it over the target, so that every reader finds the old content or
/// the new. Where only writing in place can do it, [`in_place`] is used: for a file with further hard links, which a
/// rename would cut off; for a directory that takes no new files; and for a file that is a mount point.
pub(crate) fn publish(entry: &Entry<'_>, content: &[u8], replaces: &Replaces<'_>) -> Result<State, FsError> {
    let Replaces::File(state) = replaces else {
        return rename_into_place(entry, content, replaces);
    };
    // A rename asks for no right on the file itself; a read-only file shall be one here, too.
    rustix::fs::accessat(entry.directory.fd(), &entry.name, Access::WRITE_OK, AtFlags::EACCESS)
        .map_err(|error| entry.failure("write", error))?;
    if state.is_hard_linked() {
        return in_place::overwrite(entry, content, state);
    }
    match rename_into_place(entry, content, replaces) {
        Err(FsError::Io { source, operation, .. })
            if matches!(
                (operation, Errno::from_io_error(&source)),
                (STAGE, Some(Errno::ACCESS | Errno::PERM)) | (RENAME, Some(Errno::BUSY))
            ) =>
        {
            in_place::overwrite(entry, content, state)
        }
        result => result,
    }
}

const STAGE: &str = "create a temporary file beside";
const RENAME: &str = "replace";

fn rename_into_place(entry: &Entry<'_>, content: &[u8], replaces: &Replaces<'_>) -> Result<State, FsError> {
    let failed = |operation| move |error| entry.failure(operation, error);
    let existing = if let Replaces::File(state) = replaces { Some(*state) } else { None };
    let mut staged = Staged::create(&entry.directory, existing).map_err(failed(STAGE))?;
    staged.write(content).map_err(failed("write"))?;
    if let Some(existing) = existing {
        // A file that may be written but not read keeps its attributes to itself.
        let old = entry.open_file(OFlags::RDONLY).ok().map(|(file, _)| file);
        staged.dress_like(existing, old.as_ref()).map_err(failed("copy the attributes of"))?;
    }
    staged.sync().map_err(failed("sync"))?;
    match replaces {
        Replaces::File(state) => {
            entry.require_unchanged(state)?;
            staged.rename_over(&entry.name).map_err(failed(RENAME))?;
        }
        Replaces::Anything => staged.rename_over(&entry.name).map_err(failed(RENAME))?,
        Replaces::Nothing => match staged.rename_if_absent(&entry.name) {
            Err(Errno::EXIST) => {
                return Err(FsError::AlreadyExists { path: entry.path.display().to_owned() });
            }
            result => result.map_err(failed("create"))?,
        },
    }
    entry.directory.sync().map_err(failed("sync the directory of"))?;
    staged.state().map_err(failed("stat"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the disk themselves")]
mod tests {
    use std::fs;

    use super::{Replaces, publish};
    use crate::directory::Entry;
    use crate::resolve::resolve;

    /// The last look before the rename: another process changed the file while the new content was being made.
    #[test]
    fn a_state_that_is_gone_is_not_replaced() {
        for hard_linked in [false, true] {
            let root = tempfile::tempdir().unwrap();
            let file = root.path().join("file");
            fs::write(&file, "old").unwrap();
            if hard_linked {
                fs::hard_link(&file, root.path().join("other")).unwrap();
            }
            let path = resolve(root.path(), "file").unwrap();
            let entry = Entry::open(&path).unwrap();
            let state = entry.state().unwrap();
            fs::write(&file, "theirs").unwrap();
            let error = publish(&entry, b"ours", &Replaces::File(&state)).err().unwrap();
            assert_eq!(error.code(), "FS_STALE");
            assert_eq!(fs::read(&file).unwrap(), b"theirs");
            assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1 + usize::from(hard_linked));
        }
    }
}
