//! A damaged log: every fault of it, and what can be kept.
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use harness_session::{DecodeError, FORMAT_VERSION, SessionHeader, SessionId, decode_header, encode_header};
use harness_session_persistence::{
    Fault, Health, KnownTypes, PersistenceError, Position, Record, RepairReport, Salvage, check_log, salvage,
};

use crate::layout::{Layout, io};
use crate::line_reader::LineReader;
use crate::opening;
use crate::stored_log::{Line, StoredLog, lines};
use crate::writer::encode;

/// A log taken apart.
struct Parts<'a> {
    header: SessionHeader,
    /// Why the header had to be made up.
    header_fault: Option<String>,
    salvage: Salvage,
    /// The text of each record.
    texts: Vec<Cow<'a, [u8]>>,
}

/// Every fault, not only the first.
pub(crate) fn check(layout: &Layout, id: SessionId, known: &KnownTypes) -> Result<Health, PersistenceError> {
    let path = layout.log(id);
    let bytes = fs::read(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => PersistenceError::NotFound { id },
        _ => io("read", &path)(source),
    })?;
    let location = path.display().to_string();
    let loaded = StoredLog::parse(&bytes, &location, id).and_then(|stored| {
        let (_, closed) =
            check_log(&stored.header, &stored.events, known, &location, |index| stored.positions[index])?;
        let mut notes = stored.notes;
        notes.extend(closed);
        Ok(Health::of(&stored.events, notes))
    });
    let error = match loaded {
        Ok(health) => return Ok(health),
        Err(error) => error,
    };
    let parts = match &error {
        PersistenceError::Corrupt { .. } => take_apart(&bytes, &location, id).ok(),
        _ => None,
    };
    let Some(parts) = parts else {
        return Ok(Health { faults: vec![Fault::from(&error)], ..Health::default() });
    };
    let code = error.code();
    let start = Position::Line { line: 1, byte: 0 };
    let header = parts.header_fault.map(|detail| Fault { code, position: Some(start), detail });
    let losses = parts.salvage.losses.into_iter();
    let losses = losses.map(|loss| Fault { code, position: Some(loss.position), detail: loss.detail });
    let faults = header.into_iter().chain(losses).collect();
    Ok(Health { faults, events: parts.salvage.kept, ..Health::default() })
}

/// Replaces a damaged log by what can be kept of it.
pub(crate) fn repair(
    layout: &Layout,
    id: SessionId,
    known: &KnownTypes,
    dry_run: bool,
) -> Result<RepairReport, PersistenceError> {
    let read = opening::read(layout, id)?;
    let path = layout.log(id);
    let location = path.display().to_string();
    let stored = StoredLog::parse(read.bytes(), &location, id).and_then(|stored| {
        check_log(&stored.header, &stored.events, known, &location, |index| stored.positions[index])?;
        Ok(stored)
    });
    match stored {
        Ok(stored) if Health::of(&stored.events, Vec::new()).faults.is_empty() => {
            return Ok(RepairReport { kept: stored.events.len(), ..RepairReport::default() });
        }
        Ok(_) | Err(PersistenceError::Corrupt { .. }) => {}
        Err(other) => return Err(other),
    }
    let Parts { header, header_fault, salvage: Salvage { events, mut losses, kept }, texts } =
        take_apart(read.bytes(), &location, id)?;
    // Refuses what is beyond repair, such as an event that only another plugin understands.
    check_log(&header, &events, known, &location, |_| Position::Line { line: 1, byte: 0 })?;
    if let Some(fault) = Health::of(&events, Vec::new()).faults.pop() {
        let position = fault.position.unwrap_or(Position::Event(0));
        return Err(PersistenceError::Corrupt { id, location, position, detail: fault.detail });
    }
    let mut aside: Vec<u8> = Vec::new();
    if let Some(detail) = header_fault {
        let position = Position::Line { line: 1, byte: 0 };
        aside.extend(lines(read.bytes()).next().map_or(&[][..], |line| line.text));
        aside.push(b'\n');
        losses.insert(0, harness_session_persistence::Loss { position, record: None, detail });
    }
    for text in losses.iter().filter_map(|loss| texts.get(loss.record?)) {
        aside.extend_from_slice(text);
        aside.push(b'\n');
    }
    let mut report = RepairReport { losses, kept, ..RepairReport::default() };
    if dry_run {
        return Ok(report);
    }
    let header_line = encode_header(&header).map_err(|source| PersistenceError::Encode { seq: 0, source })?;
    let text = format!("{header_line}\n{}", encode(0, &events)?);
    // Where links lead to, so that they lead there still.
    let log = fs::canonicalize(&path).map_err(io("look at", &path))?;
    let backup = keep(&log, "damaged", read.bytes())?;
    let set_aside = keep(&log, "lost", &aside)?;
    let fresh = keep(&log, "repaired", text.as_bytes())?;
    let folder = log.parent().unwrap_or(&log);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("synchronise the folder", folder))?;
    fs::rename(&fresh, &log).map_err(io("replace", &log))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("synchronise the folder", folder))?;
    report.backup = Some(backup.display().to_string());
    report.set_aside = Some(set_aside.display().to_string());
    Ok(report)
}

fn take_apart<'a>(bytes: &'a [u8], location: &str, id: SessionId) -> Result<Parts<'a>, PersistenceError> {
    let mut reader = LineReader::default();
    let (mut records, mut texts) = (Vec::new(), Vec::new());
    let mut whole = lines(bytes).filter(|line| !line.text.trim_ascii().is_empty()).peekable();
    let (header, header_fault) = match whole.peek().map(|line| header_of(line, id)) {
        Some(Ok(header)) => {
            whole.next();
            (Some(header), None)
        }
        Some(Err(DecodeError::NewerFormat { found })) => {
            return Err(PersistenceError::NewerFormat { id, location: location.to_owned(), found });
        }
        Some(Err(error)) => {
            // A log that lost its first line starts with an event.
            if whole.peek().is_some_and(|line| LineReader::default().events(line.text, drop).is_err()) {
                whole.next();
            }
            (None, Some(error.to_string()))
        }
        None => (None, Some("the file is empty: the line with the header is missing".to_owned())),
    };
    for line in whole {
        reader.each(line.text, |text, event| {
            records.push(Record { position: line.position(), event: event.map_err(|error| error.detail) });
            let packed = text.as_ptr() != line.text.as_ptr();
            texts.push(if packed { Cow::Owned(text.to_vec()) } else { Cow::Borrowed(line.text) });
        });
    }
    let salvage = salvage(id, records);
    let first = salvage.events.first().map_or(0, |event| event.time);
    let made_up = || SessionHeader { version: FORMAT_VERSION, id, ..SessionHeader::new(first, None) };
    Ok(Parts { header: header.unwrap_or_else(made_up), header_fault, salvage, texts })
}

fn header_of(line: &Line<'_>, id: SessionId) -> Result<SessionHeader, DecodeError> {
    let header = decode_header(&String::from_utf8_lossy(line.text))?;
    // A log under another session's name: the name is what people and programs use.
    Ok(SessionHeader { id, ..header })
}

/// Writes a file beside the log under a name that nothing has yet.
fn keep(log: &Path, purpose: &str, bytes: &[u8]) -> Result<PathBuf, PersistenceError> {
    for n in 1.. {
        let path = log.with_file_name(format!("{purpose}-{n}.jsonl"));
        match File::options().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                let written = file.write_all(bytes).and_then(|()| file.sync_all());
                if let Err(source) = written {
                    fs::remove_file(&path).ok(); // half a copy helps nobody
                    return Err(io("write", &path)(source));
                }
                return Ok(path);
            }
            Err(source) if source.kind() == ErrorKind::AlreadyExists => {}
            Err(source) => return Err(io("create", &path)(source)),
        }
    }
    unreachable!("the names do not end")
}
