//! A session as it stands in the database.
use std::path::Path;
use std::sync::Arc;

use harness_session::{DecodeError, Decoder, Event, Seq, SessionHeader, SessionId, decode_header};
use harness_session_persistence::{PersistenceError, Position};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::sql;
use crate::row::EventRow;

/// Header and events, as far as they can be read at all.
pub(crate) struct Stored {
    pub(crate) header: SessionHeader,
    pub(crate) events: Vec<Arc<Event>>,
}

/// Reads a session in one transaction.
pub(crate) fn load(connection: &Connection, path: &Path, id: SessionId) -> Result<Stored, PersistenceError> {
    let failed = sql("read", path);
    let transaction = connection.unchecked_transaction().map_err(&failed)?;
    let found = transaction
        .query_row("SELECT header, events FROM sessions WHERE id = ?1", [id.to_string()], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()
        .map_err(&failed)?;
    let (header, count) = found.ok_or(PersistenceError::NotFound { id })?;
    let header = read_header(&header, path, id)?;
    let mut statement = transaction
        .prepare(
            "SELECT seq, type, time, data, source_event_seqs, surface_op, required FROM events
             WHERE session_id = ?1 ORDER BY seq",
        )
        .map_err(&failed)?;
    let rows = statement.query_map([id.to_string()], event_row).map_err(&failed)?;
    let (mut decoder, mut events) = (Decoder::default(), Vec::new());
    for row in rows {
        let row = row.map_err(&failed)?;
        let line = row.line().map_err(DecodeError::Json);
        let event = line.and_then(|line| decoder.decode(&line));
        let seq = Seq::try_from(row.seq).unwrap_or(Seq::MAX);
        let event = event.map_err(|error| corrupt(path, id, seq, error.to_string()))?;
        events.push(Arc::new(event));
    }
    let stored = i64::try_from(events.len()).unwrap_or(i64::MAX);
    // With a hole in the middle the log's own check says more.
    let whole = events.last().is_none_or(|last| last.seq + 1 == events.len() as Seq);
    if whole && stored != count {
        let detail = format!("the session has {count} events, and {stored} of them are there");
        return Err(corrupt(path, id, events.len() as Seq, detail));
    }
    Ok(Stored { header, events })
}

fn event_row(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    Ok(EventRow {
        seq: row.get(0)?,
        kind: row.get(1)?,
        time: row.get(2)?,
        data: row.get(3)?,
        sources: row.get(4)?,
        surface: row.get(5)?,
        required: row.get(6)?,
    })
}

/// Reads a header as it is stored.
pub(crate) fn read_header(text: &str, path: &Path, id: SessionId) -> Result<SessionHeader, PersistenceError> {
    let location = path.display().to_string();
    let header = decode_header(text).map_err(|error| match error {
        DecodeError::NewerFormat { found } => PersistenceError::NewerFormat { id, location, found },
        other => corrupt(path, id, 0, format!("its header cannot be read: {other}")),
    })?;
    if header.id == id {
        Ok(header)
    } else {
        Err(corrupt(path, id, 0, format!("its header names session {}", header.id)))
    }
}

pub(crate) fn corrupt(path: &Path, id: SessionId, seq: Seq, detail: String) -> PersistenceError {
    let location = path.display().to_string();
    PersistenceError::Corrupt { id, location, position: Position::Event(seq), detail }
}
