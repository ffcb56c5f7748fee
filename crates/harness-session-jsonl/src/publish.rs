//! A new session appears whole or not at all.
use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use harness_session::{Seq, SessionId};
use harness_session_persistence::{Durability, PersistenceError};

use crate::layout::{LOG, Layout, io};
use crate::lease::{Lease, lock};
use crate::log_file::{End, LogFile};
use crate::stored_log::count;

/// Writes a log beside the others under a hidden name, locks it, and gives its folder the session's name, which
/// fails when the name is taken.
pub(crate) fn publish(
    layout: &Layout,
    id: SessionId,
    header: &str,
    lines: &[u8],
    events: Seq,
) -> Result<LogFile, PersistenceError> {
    layout.make_root()?;
    let hidden = layout.hidden("new", id);
    let published = stage(&hidden, &[header.as_bytes(), lines].concat(), id).and_then(|(mut lease, file)| {
        let end = End { bytes: count(header.len() + lines.len()), next: events };
        let mut synced = End { bytes: count(header.len()), next: 0 };
        if layout.durability >= Durability::Sync {
            // Before it gets its name: a name without data would be a damaged session after a power cut.
            file.sync_data().map_err(io("synchronise", &hidden.join(LOG)))?;
            synced = end;
        }
        give_name(layout, &hidden, id)?;
        let path = layout.log(id);
        lease.moved_to(&path);
        Ok(LogFile::new(lease, file, path, layout, end, synced))
    });
    if published.is_err() {
        fs::remove_dir_all(&hidden).ok(); // it may not even exist; the failure itself is told
    }
    published
}

fn stage(hidden: &Path, lines: &[u8], id: SessionId) -> Result<(Lease, File), PersistenceError> {
    let made = DirBuilder::new().mode(0o700).create(hidden);
    made.map_err(io("create the folder", hidden))?;
    let log = hidden.join(LOG);
    let opened = File::options().append(true).create_new(true).mode(0o600).open(&log);
    let mut file = opened.map_err(io("create", &log))?;
    lock(&file, &log, id)?;
    let lease = Lease::record(&log);
    file.write_all(lines).map_err(io("write", &log))?;
    Ok((lease, file))
}

fn give_name(layout: &Layout, hidden: &Path, id: SessionId) -> Result<(), PersistenceError> {
    let folder = layout.folder(id);
    fs::rename(hidden, &folder).map_err(|source| match source.kind() {
        // A folder with something in it is never replaced (rename(2)).
        ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            PersistenceError::AlreadyExists { id, location: folder.display().to_string() }
        }
        _ => io("create the folder", &folder)(source),
    })
}
