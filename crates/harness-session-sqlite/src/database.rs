//! The database: where it is, how it is opened, which tables it has.
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use harness_session::SessionId;
use harness_session_persistence::{Durability, PersistenceError};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::error::{DatabaseError, io, sql};

/// The version of the tables, kept in `user_version`.
pub(crate) const SCHEMA_VERSION: i64 = 1;

/// How long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    header TEXT NOT NULL,
    cwd TEXT,
    modified INTEGER NOT NULL,
    events INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    title TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_change ON sessions (modified);
CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    time INTEGER NOT NULL,
    data TEXT NOT NULL,
    source_event_seqs TEXT,
    surface_op TEXT,
    required INTEGER NOT NULL,
    PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;
";

/// Where the database is, and how safe a commit makes what it stores.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    pub(crate) durability: Durability,
}

impl Place {
    pub(crate) fn file(&self) -> PathBuf {
        self.root.join("sessions.db")
    }
    pub(crate) fn lock(&self, id: SessionId) -> PathBuf {
        self.root.join("locks").join(id.to_string())
    }
    /// Makes a folder, private to its owner.
    pub(crate) fn make_folder(folder: &std::path::Path) -> Result<(), PersistenceError> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io("create the folder", folder))
    }

    /// A connection that only reads; none if there is no database yet.
    pub(crate) fn reader(&self) -> Result<Option<Connection>, PersistenceError> {
        let path = self.file();
        match std::fs::metadata(&path) {
            Ok(about) if about.len() == 0 => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io("read", &path)(error)),
        }
        // Reading needs the shared memory of the write-ahead log, which a read-only connection cannot make.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(sql("open", &path))?;
        connection.busy_timeout(BUSY).map_err(sql("open", &path))?;
        let version = self.version(&connection)?;
        connection.pragma_update(None, "query_only", true).map_err(sql("open", &path))?;
        Ok((version > 0).then_some(connection))
    }

    /// The connection that writes. Makes the database if there is none.
    pub(crate) fn writer(&self) -> Result<Connection, PersistenceError> {
        let path = self.file();
        Self::make_folder(&self.root)?;
        File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(io("create", &path))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, flags).map_err(sql("open", &path))?;
        let failed = sql("set up", &path);
        connection.busy_timeout(BUSY).map_err(&failed)?;
        // Before anything is changed: a newer database is left as it is.
        if self.version(&connection)? == 0 {
            self.write_ahead(&connection)?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
            // Another process may have been first.
            if self.version(&transaction)? == 0 {
                transaction.execute_batch(TABLES).map_err(&failed)?;
                transaction.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(&failed)?;
            }
            transaction.commit().map_err(&failed)?;
        }
        connection.pragma_update(None, "foreign_keys", true).map_err(&failed)?;
        self.synchronous(&connection, self.durability)?;
        Ok(connection)
    }

    /// Switches to the write-ahead log. `SQLite` does not apply its own patience to that, so it is done again while
    /// another process does the same.
    fn write_ahead(&self, connection: &Connection) -> Result<(), PersistenceError> {
        let since = Instant::now();
        loop {
            let mode = connection
                .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
            match mode {
                Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
                Ok(mode) => {
                    // A file system without shared memory: slower, and as safe.
                    tracing::warn!(%mode, database = %self.file().display(), "no write-ahead log here");
                    return Ok(());
                }
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                        && since.elapsed() < BUSY =>
                {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(sql("set up", &self.file())(error)),
            }
        }
    }

    /// What the next commits wait for.
    pub(crate) fn synchronous(
        &self,
        connection: &Connection,
        durability: Durability,
    ) -> Result<(), PersistenceError> {
        let word = if durability >= Durability::Sync { "full" } else { "normal" };
        connection.pragma_update(None, "synchronous", word).map_err(sql("set up", &self.file()))
    }

    fn version(&self, connection: &Connection) -> Result<i64, PersistenceError> {
        let path = self.file();
        let found = connection.pragma_query_value(None, "user_version", |row| row.get(0));
        let found: i64 = found.map_err(sql("read", &path))?;
        if found > SCHEMA_VERSION {
            return Err(DatabaseError::Newer { location: path.display().to_string(), found }.into());
        }
        Ok(found)
    }
}
