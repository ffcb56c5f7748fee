//! A session at a glance: from the first and the last few kilobytes of its log.
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use harness_session::{Body, DecodeError, Decoder, Seq, SessionHeader, SessionId, decode_header};
use harness_session_persistence::{PersistenceError, Position, SessionSummary, title};
use memchr::{memchr, memmem};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::expander::Expander;
use crate::packed_line;

/// Enough for the header and what a person asks first, in most sessions.
const HEAD: usize = 4 * 1024;
/// Where the search for the first words ends.
const FAR: usize = 64 * 1024;
/// Enough for the last events of a session that ended well.
const TAIL: usize = 2 * 1024;

/// Reads the summary; the log may be growing meanwhile.
pub(crate) fn summarise(path: &Path, id: SessionId) -> Result<SessionSummary, PersistenceError> {
    let failed = |source: io::Error| crate::layout::io("read", path)(source);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    let mut head = read(&file, 0, HEAD.min(size)).map_err(failed)?;
    let mut header = header(&head);
    let mut words = header.as_ref().and_then(|_| first_words(&head));
    if words.is_none() && size > head.len() {
        head = read(&file, 0, FAR.min(size)).map_err(failed)?;
        header = self::header(&head);
        words = first_words(&head);
    }
    let header = header.ok_or(None).and_then(|header| header.map_err(Some));
    let header = header.map_err(|error| refuse(error, path, id))?;
    if header.id != id {
        let other = format!("the header names session {}", header.id);
        return Err(corrupt(path, id, other));
    }
    let tail = match size.checked_sub(head.len()) {
        None | Some(0) => head,
        Some(_) => read(&file, size.saturating_sub(TAIL), TAIL).map_err(failed)?,
    };
    let (events, turns) = ending(&tail);
    Ok(SessionSummary {
        header,
        modified: metadata.mtime().saturating_mul(1000).saturating_add(metadata.mtime_nsec() / 1_000_000),
        bytes: Some(metadata.len()),
        events,
        turns,
        title: words,
    })
}

fn read(file: &File, offset: usize, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], (offset + filled) as u64)? {
            0 => break,
            n => filled += n,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn header(head: &[u8]) -> Option<Result<SessionHeader, DecodeError>> {
    let line = match memchr(b'\n', head) {
        Some(end) => &head[..end],
        None => head,
    };
    let decoded = decode_header(&String::from_utf8_lossy(line));
    // Without its line feed the header may be cut by the window; then it does not decode, and more is read.
    (memchr(b'\n', head).is_some() || decoded.is_ok()).then_some(decoded)
}

/// What a person said first, from the whole lines of the window.
fn first_words(head: &[u8]) -> Option<String> {
    let mut lines = head.split_inclusive(|byte| *byte == b'\n').skip(1).filter(|line| line.ends_with(b"\n"));
    let mut expander = Expander::default();
    lines.find_map(|line| match packed_line::mark(line) {
        None => words(line),
        Some(mark) => {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            expander.expand(mark, line).ok()?.split_inclusive(|byte| *byte == b'\n').find_map(words)
        }
    })
}
fn words(line: &[u8]) -> Option<String> {
    let may_say = [&br#""user/message""#[..], br#""agent/inbox/spliced""#];
    may_say.iter().any(|name| memmem::find(line, name).is_some()).then_some(())?;
    let event = Decoder::default().decode(std::str::from_utf8(line).ok()?).ok()?;
    matches!(event.body, Body::UserMessage(_) | Body::InboxSpliced(_)).then_some(())?;
    title(&[event.into()])
}

#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    seq: Seq,
    #[serde(borrow)]
    data: &'a RawValue,
}
#[derive(Deserialize)]
struct InTurn {
    turn: u32,
}

/// How many events and turns there are, as far as the last lines say.
fn ending(tail: &[u8]) -> (Option<Seq>, Option<u32>) {
    let (mut events, mut turns) = (None, None);
    for line in tail.rsplit(|byte| *byte == b'\n') {
        if packed_line::mark(line).is_some() {
            break; // it says neither, unless the whole log is read, and no line before it counts any more
        }
        let Ok(probe) = serde_json::from_slice::<Probe<'_>>(line) else { continue };
        events = events.or(Some(probe.seq + 1));
        if ["turn/", "step/", "tool/", "assistant/"].iter().any(|family| probe.kind.starts_with(family)) {
            turns = serde_json::from_str::<InTurn>(probe.data.get()).ok().map(|at| at.turn);
        }
        if turns.is_some() {
            break;
        }
    }
    (events, turns)
}

fn refuse(error: Option<DecodeError>, path: &Path, id: SessionId) -> PersistenceError {
    match error {
        Some(DecodeError::NewerFormat { found }) => {
            PersistenceError::NewerFormat { id, location: path.display().to_string(), found }
        }
        Some(other) => corrupt(path, id, other.to_string()),
        None => corrupt(path, id, "the line with the header is missing or cut off".to_owned()),
    }
}
fn corrupt(path: &Path, id: SessionId, detail: String) -> PersistenceError {
    let (location, position) = (path.display().to_string(), Position::Line { line: 1, byte: 0 });
    PersistenceError::Corrupt { id, location, position, detail }
}
