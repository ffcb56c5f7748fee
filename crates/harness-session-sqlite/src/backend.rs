//! The service over a database.
use std::sync::Arc;

use async_trait::async_trait;
use harness_session::{Seq, SessionHeader, SessionId};
use harness_session_persistence::{
    Durability, KnownTypes, Listing, Opened, PersistenceError, Position, SessionPersistence, SessionSummary,
    SessionWriter, Snapshot, check_log,
};
use rusqlite::{Connection, OptionalExtension};

use crate::config::SqliteConfig;
use crate::database::Place;
use crate::error::sql;
use crate::lease::Lease;
use crate::load::load;
use crate::summary::{latest, list};
use crate::thread::WriterThread;
use crate::writer::SqliteWriter;

/// Sessions as rows of one database.
#[derive(Debug, Clone)]
pub struct SqlitePersistence(Arc<WriterThread>);

impl SqlitePersistence {
    /// Sessions as configured. Touches no file.
    pub fn new(config: SqliteConfig) -> Self {
        let SqliteConfig { root, durability } = config;
        Self(Arc::new(WriterThread::new(Place { root, durability })))
    }
    fn place(&self) -> Place {
        self.0.place().clone()
    }
}

#[async_trait]
impl SessionPersistence for SqlitePersistence {
    async fn create(&self, header: SessionHeader) -> Result<Box<dyn SessionWriter>, PersistenceError> {
        let (place, id) = (self.place(), header.id);
        let lease = blocking(move || {
            let lease = Lease::take(&place, id)?;
            match place.reader()? {
                Some(connection) if exists(&connection, &place, id)? => {
                    let location = place.file().display().to_string();
                    Err(PersistenceError::AlreadyExists { id, location })
                }
                _ => Ok(lease),
            }
        })
        .await?;
        Ok(Box::new(SqliteWriter::new(Arc::clone(&self.0), lease, header)))
    }

    async fn open(&self, id: SessionId, known: &KnownTypes) -> Result<Opened, PersistenceError> {
        let (place, known) = (self.place(), known.clone());
        let (lease, snapshot) = blocking(move || {
            let missing = PersistenceError::NotFound { id };
            let Some(connection) = place.reader()? else { return Err(missing) };
            if !exists(&connection, &place, id)? {
                return Err(missing);
            }
            let lease = Lease::take(&place, id)?;
            let snapshot = read(&connection, &place, id, &known)?;
            Ok((lease, snapshot))
        })
        .await?;
        let Snapshot { header, events, stored, repairs } = snapshot;
        let mut writer = SqliteWriter::behind(Arc::clone(&self.0), lease, header.clone(), stored);
        // Also without closers: what is here may come from a process that ended without waiting for the device.
        let closers = events.get(usize::try_from(stored).unwrap_or(usize::MAX)..).unwrap_or_default();
        writer.append(closers, self.durability()).await?;
        Ok(Opened { header, events, repairs, writer: Box::new(writer) })
    }

    async fn inspect(&self, id: SessionId, known: &KnownTypes) -> Result<Snapshot, PersistenceError> {
        let (place, known) = (self.place(), known.clone());
        blocking(move || match place.reader()? {
            Some(connection) => read(&connection, &place, id, &known),
            None => Err(PersistenceError::NotFound { id }),
        })
        .await
    }

    async fn list(&self) -> Result<Listing, PersistenceError> {
        let place = self.place();
        blocking(move || match place.reader()? {
            Some(connection) => list(&connection, &place.file()),
            None => Ok(Listing::default()),
        })
        .await
    }

    async fn latest(&self, cwd: Option<&str>) -> Result<Option<SessionSummary>, PersistenceError> {
        let (place, cwd) = (self.place(), cwd.map(str::to_owned));
        blocking(move || match place.reader()? {
            Some(connection) => latest(&connection, &place.file(), cwd.as_deref()),
            None => Ok(None),
        })
        .await
    }

    async fn remove(&self, id: SessionId) -> Result<(), PersistenceError> {
        let place = self.place();
        let lease = blocking(move || match place.reader()? {
            Some(connection) if exists(&connection, &place, id)? => Lease::take(&place, id),
            _ => Err(PersistenceError::NotFound { id }),
        })
        .await?;
        self.0
            .run(move |connection, place| {
                let _held = lease;
                place.synchronous(connection, place.durability)?;
                // Its events go with it.
                let removed = connection.execute("DELETE FROM sessions WHERE id = ?1", [id.to_string()]);
                match removed.map_err(sql("write to", &place.file()))? {
                    0 => Err(PersistenceError::NotFound { id }),
                    _ => Ok(()),
                }
            })
            .await
    }

    fn locate(&self, id: SessionId) -> Option<String> {
        Some(format!("{}, session {id}", self.0.place().file().display()))
    }
    fn durability(&self) -> Durability {
        self.0.place().durability
    }
}

fn exists(connection: &Connection, place: &Place, id: SessionId) -> Result<bool, PersistenceError> {
    let found =
        connection.query_row("SELECT 1 FROM sessions WHERE id = ?1", [id.to_string()], |_| Ok(())).optional();
    found.map(|found| found.is_some()).map_err(sql("read", &place.file()))
}

fn read(
    connection: &Connection,
    place: &Place,
    id: SessionId,
    known: &KnownTypes,
) -> Result<Snapshot, PersistenceError> {
    let path = place.file();
    let stored = load(connection, &path, id)?;
    let (header, mut events) = (stored.header, stored.events);
    let position = |index: usize| Position::Event(index as Seq);
    let (closers, closed) = check_log(&header, &events, known, &path.display().to_string(), position)?;
    let stored = events.len() as Seq;
    events.extend(closers);
    Ok(Snapshot { header, events, stored, repairs: closed.into_iter().collect() })
}

/// Runs file work where it may block. It is carried through even if the caller stops waiting.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PersistenceError> + Send + 'static,
) -> Result<T, PersistenceError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(cancelled) => Err(PersistenceError::Backend(Box::new(cancelled))),
        },
    }
}
