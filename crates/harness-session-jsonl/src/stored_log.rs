//! A log as text: what is whole, what is torn and what is damaged.
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use harness_session::{DecodeError, Event, SessionHeader, SessionId, decode_header};
use harness_session_persistence::{PersistenceError, Position, RepairNote};
use memchr::memchr;

use crate::layout::io;
use crate::line_reader::{LineReader, NotAnEvent};

/// A session log as it stands in its file, before any repair.
///
/// Events of types that this build does not know keep their data byte for byte, so that copying a log to another
/// backend loses nothing.
#[derive(Debug)]
pub struct StoredLog {
    /// The header.
    pub header: SessionHeader,
    /// Every whole event, as they follow each other in the file.
    pub events: Vec<Arc<Event>>,
    /// What is not as it should be and can be mended.
    pub notes: Vec<RepairNote>,
    /// Where each event's line is.
    pub(crate) positions: Vec<Position>,
    /// Size of what is whole, in bytes; only a fragment can follow.
    pub(crate) end: usize,
    /// Whether what is whole ends with a line feed.
    pub(crate) terminated: bool,
}

impl StoredLog {
    /// Reads a file without changing it.
    ///
    /// Only the last line can be torn: then it is not a JSON value. Anything else that cannot be read is damage,
    /// and refused with its position.
    pub fn read(path: &Path, id: SessionId) -> Result<Self, PersistenceError> {
        let bytes = fs::read(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => PersistenceError::NotFound { id },
            _ => io("read", path)(source),
        })?;
        Self::parse(&bytes, &path.display().to_string(), id)
    }

    pub(crate) fn parse(bytes: &[u8], location: &str, id: SessionId) -> Result<Self, PersistenceError> {
        let corrupt = |position, detail: &str| PersistenceError::Corrupt {
            id,
            location: location.to_owned(),
            position,
            detail: detail.to_owned(),
        };
        let (mut header, mut events, mut positions) = (None, Vec::new(), Vec::new());
        let (mut torn, mut blank) = (None, None::<(u64, u64)>);
        let mut reader = LineReader::default();
        for line in lines(bytes) {
            let position = line.position();
            if line.text.trim_ascii().is_empty() {
                blank.get_or_insert((count(line.start), 0)).1 += 1;
            } else if header.is_none() {
                header = Some(read_header(line.text, location, id, &|detail| corrupt(position, detail))?);
            } else {
                let taken = reader.events(line.text, |event| {
                    events.push(Arc::new(event));
                    positions.push(position);
                });
                match taken {
                    Ok(()) => {}
                    Err(NotAnEvent { whole: false, .. }) if bytes[line.end..].trim_ascii().is_empty() => {
                        torn = Some(line.start);
                        break;
                    }
                    Err(NotAnEvent { detail, .. }) => return Err(corrupt(position, &detail)),
                }
            }
        }
        let Some(header) = header else {
            let start = Position::Line { line: 1, byte: 0 };
            return Err(corrupt(start, "the file is empty: the line with the header is missing"));
        };

        let end = torn.unwrap_or(bytes.len());
        let terminated = bytes[..end].last() == Some(&b'\n');
        let mut notes = Vec::new();
        let (location, offset) = (|| location.to_owned(), count(end));
        if torn.is_some() {
            let bytes = count(bytes.len() - end);
            notes.push(RepairNote::TornTail { location: location(), offset, bytes, set_aside: None });
        } else if !terminated {
            notes.push(RepairNote::MissingNewline { location: location(), offset });
        }
        if let Some((offset, lines)) = blank {
            notes.push(RepairNote::BlankLines { location: location(), offset, lines });
        }
        Ok(Self { header, events, notes, positions, end, terminated })
    }
}

pub(crate) fn count(index: usize) -> u64 {
    index as u64
}

pub(crate) struct Line<'a> {
    number: u64,
    start: usize,
    /// Behind the line feed.
    end: usize,
    pub(crate) text: &'a [u8],
}
impl Line<'_> {
    pub(crate) fn position(&self) -> Position {
        Position::Line { line: self.number, byte: count(self.start) }
    }
}
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let (mut start, mut number) = (0, 0);
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let (text, length) = match memchr(b'\n', rest) {
            Some(at) => (&rest[..at], at + 1),
            None => (rest, rest.len()),
        };
        number += 1;
        let found = Line { number, start, end: start + length, text };
        start = found.end;
        Some(found)
    })
}

fn read_header(
    text: &[u8],
    location: &str,
    id: SessionId,
    corrupt: &dyn Fn(&str) -> PersistenceError,
) -> Result<SessionHeader, PersistenceError> {
    let text = std::str::from_utf8(text).map_err(|error| corrupt(&error.to_string()))?;
    let header = decode_header(text).map_err(|error| match error {
        DecodeError::NewerFormat { found } => {
            PersistenceError::NewerFormat { id, location: location.to_owned(), found }
        }
        other => corrupt(&other.to_string()),
    })?;
    if header.id == id {
        Ok(header)
    } else {
        Err(corrupt(&format!("the header names session {}", header.id)))
    }
}
