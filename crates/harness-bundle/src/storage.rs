//! Which backend keeps the sessions.
use std::sync::Arc;

use harness_config::{Config, Paths};
use harness_kernel::App;
use harness_session_jsonl::{Compression, JsonlConfig, JsonlPersistence, JsonlPlugin};
use harness_session_persistence::{Durability, SessionPersistence};
use harness_session_sqlite::{SqliteConfig, SqlitePersistence, SqlitePlugin};

use crate::error::BundleError;
use crate::settings::{BackendSetting, CompressionSetting, DurabilitySetting, SessionSettings};

/// Adds the backend that the settings name.
pub(crate) fn plugged(app: App, session: &SessionSettings, paths: &Paths) -> Result<App, BundleError> {
    match session.backend {
        BackendSetting::Jsonl => Ok(app.with(JsonlPlugin(jsonl(session, paths)))),
        BackendSetting::Sqlite if session.compression != CompressionSetting::None => {
            let text =
                "session.compression works with session.backend = \"jsonl\" only; leave one of them out";
            Err(BundleError::Setting(text.to_owned()))
        }
        BackendSetting::Sqlite => Ok(app.with(SqlitePlugin(sqlite(session, paths)))),
    }
}

/// A backend by its name, apart from the one that a running harness uses: to convert sessions.
///
/// # Errors
/// If the settings of section `session` cannot be read.
pub fn storage(
    backend: BackendSetting,
    config: &Config,
    paths: &Paths,
) -> Result<Arc<dyn SessionPersistence>, BundleError> {
    let session: SessionSettings = config.section()?;
    Ok(match backend {
        BackendSetting::Jsonl => Arc::new(JsonlPersistence::new(jsonl(&session, paths))),
        BackendSetting::Sqlite => Arc::new(SqlitePersistence::new(sqlite(&session, paths))),
    })
}

fn durability(session: &SessionSettings) -> Durability {
    match session.durability {
        DurabilitySetting::Sync => Durability::Sync,
        DurabilitySetting::Write => Durability::Write,
    }
}
fn jsonl(session: &SessionSettings, paths: &Paths) -> JsonlConfig {
    let compression = match session.compression {
        CompressionSetting::None => Compression::None,
        CompressionSetting::Zstd => Compression::Zstd,
    };
    JsonlConfig { durability: durability(session), compression, ..JsonlConfig::new(paths.sessions.clone()) }
}
fn sqlite(session: &SessionSettings, paths: &Paths) -> SqliteConfig {
    SqliteConfig { durability: durability(session), ..SqliteConfig::new(paths.sessions.clone()) }
}
