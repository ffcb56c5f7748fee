//! Sessions at a glance: from their own table.
use std::path::Path;

use harness_session::{Seq, SessionId};
use harness_session_persistence::{Listing, PersistenceError, SessionSummary, Unreadable};
use rusqlite::{Connection, Row, ToSql};

use crate::error::sql;
use crate::load::{corrupt, read_header};

const COLUMNS: &str = "id, header, modified, events, turns, bytes, title";

/// Newest change first.
pub(crate) fn list(connection: &Connection, path: &Path) -> Result<Listing, PersistenceError> {
    let mut listing = Listing::default();
    let query = format!("SELECT {COLUMNS} FROM sessions ORDER BY modified DESC, id DESC");
    visit(connection, path, &query, &[], |found| {
        match found {
            Ok(summary) => listing.sessions.push(summary),
            Err((name, error)) => {
                let location = format!("{}, session {name}", path.display());
                let id = name.parse().ok();
                listing.unreadable.push(Unreadable { location, id, error });
            }
        }
        true
    })?;
    Ok(listing)
}

/// The readable session that changed last.
pub(crate) fn latest(
    connection: &Connection,
    path: &Path,
    cwd: Option<&str>,
) -> Result<Option<SessionSummary>, PersistenceError> {
    let mut latest = None;
    let query = format!(
        "SELECT {COLUMNS} FROM sessions WHERE ?1 IS NULL OR cwd = ?1 ORDER BY modified DESC, id DESC"
    );
    visit(connection, path, &query, &[&cwd], |found| {
        latest = found.ok();
        latest.is_none()
    })?;
    Ok(latest)
}

type Found = Result<SessionSummary, (String, PersistenceError)>;

/// Goes through the rows until `f` has enough.
fn visit(
    connection: &Connection,
    path: &Path,
    query: &str,
    parameters: &[&dyn ToSql],
    mut f: impl FnMut(Found) -> bool,
) -> Result<(), PersistenceError> {
    let failed = sql("list", path);
    let mut statement = connection.prepare(query).map_err(&failed)?;
    let mut rows = statement.query(parameters).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        let name: String = row.get(0).map_err(&failed)?;
        let read = match name.parse::<SessionId>() {
            Ok(id) => summary(row, path, id).map_err(&failed)?.map_err(|error| (name, error)),
            Err(error) => {
                let detail = format!("`{name}` is no session id: {error}");
                Err((name, corrupt(path, SessionId::generate(), 0, detail)))
            }
        };
        if !f(read) {
            break;
        }
    }
    Ok(())
}

fn summary(
    row: &Row<'_>,
    path: &Path,
    id: SessionId,
) -> rusqlite::Result<Result<SessionSummary, PersistenceError>> {
    let header: String = row.get(1)?;
    let count = |at| row.get::<_, i64>(at);
    let (modified, events, turns, bytes) = (count(2)?, count(3)?, count(4)?, count(5)?);
    let title = row.get(6)?;
    Ok(read_header(&header, path, id).map(|header| SessionSummary {
        header,
        modified,
        bytes: u64::try_from(bytes).ok(),
        events: Seq::try_from(events).ok(),
        turns: u32::try_from(turns).ok(),
        title,
    }))
}
