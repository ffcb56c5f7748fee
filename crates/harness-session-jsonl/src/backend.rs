//! The service over files.
use std::fs;
use std::sync::Arc;

use async_trait::async_trait;
use harness_session::{Seq, SessionHeader, SessionId};
use harness_session_persistence::{
    Durability, Health, KnownTypes, Listing, Opened, PersistenceError, RepairReport, SessionPersistence,
    SessionSummary, SessionWriter, Snapshot, check_log,
};

use crate::config::{Compression, JsonlConfig};
use crate::damaged;
use crate::layout::{Layout, io};
use crate::list::{latest, list};
use crate::opening::{self, lock};
use crate::stored_log::StoredLog;
use crate::writer::JsonlWriter;

/// Longest log, in bytes, that is made sense of where it is asked for: some milliseconds of work.
const READ_IN_PLACE: usize = 4 << 20;
/// The same for a log that may be compressed.
const EXPAND_IN_PLACE: usize = READ_IN_PLACE / 8;

/// Sessions as JSON lines under one folder.
#[derive(Debug, Clone)]
pub struct JsonlPersistence(Arc<Layout>);

impl JsonlPersistence {
    /// Sessions as configured. Touches no file.
    pub fn new(config: JsonlConfig) -> Self {
        let JsonlConfig { root, durability, compression } = config;
        Self(Arc::new(Layout { root, durability, compression }))
    }
}

#[async_trait]
impl SessionPersistence for JsonlPersistence {
    async fn create(&self, header: SessionHeader) -> Result<Box<dyn SessionWriter>, PersistenceError> {
        let layout = Arc::clone(&self.0);
        blocking(move || {
            let folder = layout.folder(header.id);
            if fs::symlink_metadata(&folder).is_ok() {
                let location = folder.display().to_string();
                return Err(PersistenceError::AlreadyExists { id: header.id, location });
            }
            Ok(Box::new(JsonlWriter::new(Layout::clone(&layout), header)) as Box<dyn SessionWriter>)
        })
        .await
    }
    async fn open(&self, id: SessionId, known: &KnownTypes) -> Result<Opened, PersistenceError> {
        let layout = Arc::clone(&self.0);
        let log = blocking(move || opening::read(&layout, id)).await?;
        // Handing a short log to a thread costs more than reading it: what a thread allocates, glibc gets from the
        // system page by page. A long one must not hold up whoever else runs here.
        let short = match self.0.compression {
            Compression::None => READ_IN_PLACE,
            Compression::Zstd => EXPAND_IN_PLACE,
        };
        let log = if log.len() <= short {
            opening::check(&self.0, id, known, log)?
        } else {
            let (layout, known) = (Arc::clone(&self.0), known.clone());
            blocking(move || opening::check(&layout, id, &known, log)).await?
        };
        let layout = Arc::clone(&self.0);
        let opened = blocking(move || opening::mend(&layout, id, log)).await?;
        let writer = Box::new(JsonlWriter::open(opened.log, self.0.compression));
        Ok(Opened { header: opened.header, events: opened.events, repairs: opened.repairs, writer })
    }
    async fn inspect(&self, id: SessionId, known: &KnownTypes) -> Result<Snapshot, PersistenceError> {
        let (layout, known) = (Arc::clone(&self.0), known.clone());
        blocking(move || {
            let path = layout.log(id);
            let StoredLog { header, mut events, notes: mut repairs, positions, .. } =
                StoredLog::read(&path, id)?;
            let location = path.display().to_string();
            let (closers, closed) = check_log(&header, &events, &known, &location, |index| positions[index])?;
            let stored = events.len() as Seq;
            events.extend(closers);
            repairs.extend(closed);
            Ok(Snapshot { header, events, stored, repairs })
        })
        .await
    }
    async fn list(&self) -> Result<Listing, PersistenceError> {
        let layout = Arc::clone(&self.0);
        blocking(move || list(&layout)).await
    }
    async fn latest(&self, cwd: Option<&str>) -> Result<Option<SessionSummary>, PersistenceError> {
        let (layout, cwd) = (Arc::clone(&self.0), cwd.map(str::to_owned));
        blocking(move || latest(&layout, cwd.as_deref())).await
    }
    async fn remove(&self, id: SessionId) -> Result<(), PersistenceError> {
        let layout = Arc::clone(&self.0);
        blocking(move || {
            let _held = lock(&layout, id)?;
            let (folder, hidden) = (layout.folder(id), layout.hidden("gone", id));
            // Gone at once and whole; where the folder is a link, only the link goes.
            fs::rename(&folder, &hidden).map_err(io("remove", &folder))?;
            fs::remove_dir_all(&hidden).map_err(io("remove", &hidden))?;
            layout.sync_folder(&layout.root)
        })
        .await
    }
    async fn check(&self, id: SessionId, known: &KnownTypes) -> Result<Health, PersistenceError> {
        let (layout, known) = (Arc::clone(&self.0), known.clone());
        blocking(move || damaged::check(&layout, id, &known)).await
    }
    async fn repair(
        &self,
        id: SessionId,
        known: &KnownTypes,
        dry_run: bool,
    ) -> Result<RepairReport, PersistenceError> {
        let (layout, known) = (Arc::clone(&self.0), known.clone());
        blocking(move || damaged::repair(&layout, id, &known, dry_run)).await
    }
    fn locate(&self, id: SessionId) -> Option<String> {
        Some(self.0.log(id).display().to_string())
    }
    fn durability(&self) -> Durability {
        self.0.durability
    }
}

/// Runs file work where it may block. It is carried through even if the caller stops waiting.
pub(crate) async fn blocking<T: Send + 'static>(
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
