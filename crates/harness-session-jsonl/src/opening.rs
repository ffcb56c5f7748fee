//! Opening a log: lock, read, check, and only then mend.
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harness_session::{Event, Seq, SessionHeader, SessionId};
use harness_session_persistence::{Durability, KnownTypes, PersistenceError, RepairNote, check_log};

use crate::layout::{Layout, io};
use crate::lease::{self, Lease};
use crate::log_file::{End, LogFile};
use crate::stored_log::{StoredLog, count};
use crate::writer::encode;

/// An opened session, before it gets its asynchronous face.
pub(crate) struct OpenedLog {
    pub(crate) header: SessionHeader,
    pub(crate) events: Vec<Arc<Event>>,
    pub(crate) repairs: Vec<RepairNote>,
    pub(crate) log: LogFile,
}

/// Opens and locks the log that the path leads to.
pub(crate) fn lock(layout: &Layout, id: SessionId) -> Result<(Lease, File), PersistenceError> {
    let path = layout.log(id);
    let failed = |action| {
        let failed = io(action, &path);
        move |source: std::io::Error| match source.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => PersistenceError::NotFound { id },
            _ => failed(source),
        }
    };
    loop {
        let file = File::options().read(true).append(true).open(&path).map_err(failed("open"))?;
        lease::lock(&file, &path, id)?;
        // It may have been removed, and even made anew, between opening and locking.
        let mine = file.metadata().map_err(io("look at", &path))?;
        let named = fs::metadata(&path).map_err(failed("look at"))?;
        if (mine.dev(), mine.ino()) == (named.dev(), named.ino()) {
            return Ok((Lease::record(&path), file));
        }
    }
}

/// A locked log and what stands in it.
pub(crate) struct ReadLog {
    lease: Lease,
    file: File,
    bytes: Vec<u8>,
}
impl ReadLog {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// Opens for writing, locks and reads. To be followed by [`check`] and [`mend`].
pub(crate) fn read(layout: &Layout, id: SessionId) -> Result<ReadLog, PersistenceError> {
    let (lease, mut file) = lock(layout, id)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(io("read", &layout.log(id)))?;
    Ok(ReadLog { lease, file, bytes })
}

/// A log that may be mended and written.
pub(crate) struct CheckedLog {
    read: ReadLog,
    stored: StoredLog,
    closers: Vec<Arc<Event>>,
    closed: Option<RepairNote>,
}

/// Makes sense of what was read. Touches no file: a refused log is left as it is.
pub(crate) fn check(
    layout: &Layout,
    id: SessionId,
    known: &KnownTypes,
    read: ReadLog,
) -> Result<CheckedLog, PersistenceError> {
    let location = layout.log(id).display().to_string();
    let stored = StoredLog::parse(&read.bytes, &location, id)?;
    let position = |index: usize| stored.positions[index];
    let (closers, closed) = check_log(&stored.header, &stored.events, known, &location, position)?;
    Ok(CheckedLog { read, stored, closers, closed })
}

/// Sets a fragment aside and closes an open turn.
pub(crate) fn mend(layout: &Layout, id: SessionId, log: CheckedLog) -> Result<OpenedLog, PersistenceError> {
    let CheckedLog { read: ReadLog { lease, file, bytes }, stored, closers, closed } = log;
    let StoredLog { header, mut events, notes: mut repairs, end, terminated, .. } = stored;
    let path = layout.log(id);
    let fragment = &bytes[end..];
    if !fragment.is_empty() {
        let aside = set_aside(layout, &path, count(end), fragment)?;
        for note in &mut repairs {
            if let RepairNote::TornTail { set_aside, .. } = note {
                *set_aside = Some(aside.display().to_string());
            }
        }
        file.set_len(count(end)).map_err(io("truncate", &path))?;
    }
    if layout.durability >= Durability::Sync {
        // What is here may come from a process that ended without waiting for the device.
        file.sync_data().map_err(io("synchronise", &path))?;
    }
    let at = End { bytes: count(end), next: events.len() as Seq };
    let mut log = LogFile::new(lease, file, path, layout, at, at);
    let mended = format!("{}{}", if terminated { "" } else { "\n" }, encode(at.next, &closers)?);
    if !mended.is_empty() {
        log.append(mended.as_bytes(), closers.len() as Seq)?;
    }
    if layout.durability >= Durability::Sync {
        log.sync()?;
    }
    events.extend(closers);
    repairs.extend(closed);
    Ok(OpenedLog { header, events, repairs, log })
}

/// Keeps a fragment beside the log. The same one again, after a crash in the middle of this, gives the same file.
fn set_aside(layout: &Layout, log: &Path, offset: u64, fragment: &[u8]) -> Result<PathBuf, PersistenceError> {
    let names = (0..).map(|n| match n {
        0 => log.with_file_name(format!("torn-{offset}")),
        n => log.with_file_name(format!("torn-{offset}.{n}")),
    });
    for path in names {
        match File::options().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                file.write_all(fragment).map_err(io("write", &path))?;
                if layout.durability >= Durability::Sync {
                    file.sync_data().map_err(io("synchronise", &path))?;
                }
                layout.sync_folder(path.parent().unwrap_or(&path))?;
                return Ok(path);
            }
            Err(source) if source.kind() == ErrorKind::AlreadyExists => {
                if fs::read(&path).is_ok_and(|kept| kept == fragment) {
                    return Ok(path);
                }
            }
            Err(source) => return Err(io("create", &path)(source)),
        }
    }
    unreachable!("the names do not end")
}
