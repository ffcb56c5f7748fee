//! All sessions of a folder.
use std::cmp::Reverse;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

use harness_session::SessionId;
use harness_session_persistence::{Listing, PersistenceError, SessionSummary, Unreadable};

use crate::head::summarise;
use crate::layout::{Layout, io};

/// Newest change first.
pub(crate) fn list(layout: &Layout) -> Result<Listing, PersistenceError> {
    let mut listing = Listing::default();
    for id in ids(layout)? {
        let path = layout.log(id);
        match summarise(&path, id) {
            Ok(summary) => listing.sessions.push(summary),
            Err(_) if !layout.folder(id).exists() => {} // removed meanwhile
            Err(error) => listing.unreadable.push(Unreadable {
                location: path.display().to_string(),
                id: Some(id),
                error,
            }),
        }
    }
    listing.sessions.sort_by_key(|session| Reverse((session.modified, session.header.id)));
    Ok(listing)
}

/// The session that changed last; reads only as many as it must.
pub(crate) fn latest(layout: &Layout, cwd: Option<&str>) -> Result<Option<SessionSummary>, PersistenceError> {
    let changed = |id| {
        let metadata = fs::metadata(layout.log(id)).ok()?;
        Some((metadata.mtime(), metadata.mtime_nsec(), id))
    };
    let mut sessions: Vec<_> = ids(layout)?.into_iter().filter_map(changed).collect();
    sessions.sort_unstable_by_key(|session| Reverse(*session));
    let readable = sessions.into_iter().filter_map(|(_, _, id)| summarise(&layout.log(id), id).ok());
    Ok(readable.into_iter().find(|session| cwd.is_none() || session.header.cwd.as_deref() == cwd))
}

/// The names that are those of sessions.
fn ids(layout: &Layout) -> Result<Vec<SessionId>, PersistenceError> {
    let failed = |source| io("list", &layout.root)(source);
    let entries = match fs::read_dir(&layout.root) {
        Ok(entries) => entries,
        Err(source) if source.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(source)),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let id = name.to_str().and_then(|name| name.parse::<SessionId>().ok());
        ids.extend(id.filter(|id| name.to_str() == Some(id.to_string().as_str())));
    }
    Ok(ids)
}
