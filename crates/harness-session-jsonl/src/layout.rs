//! Where the files are: `<root>/<session id>/log.jsonl`, beside it the owner record and fragments set aside.
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use harness_session::SessionId;
use harness_session_persistence::{Durability, PersistenceError};

use crate::config::Compression;

pub(crate) const LOG: &str = "log.jsonl";

/// The folder of all sessions.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    pub(crate) durability: Durability,
    pub(crate) compression: Compression,
}
impl Layout {
    pub(crate) fn folder(&self, id: SessionId) -> PathBuf {
        self.root.join(id.to_string())
    }
    pub(crate) fn log(&self, id: SessionId) -> PathBuf {
        self.folder(id).join(LOG)
    }
    /// A name that nothing else has, for a folder that is being made or deleted.
    pub(crate) fn hidden(&self, purpose: &str, id: SessionId) -> PathBuf {
        self.root.join(format!(".{purpose}-{id}-{}", SessionId::generate()))
    }

    /// Makes the root, private to its owner, together with the folders above it that are missing.
    pub(crate) fn make_root(&self) -> Result<(), PersistenceError> {
        let missing: Vec<&Path> = self.root.ancestors().take_while(|folder| !folder.exists()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.root);
        made.map_err(io("create the folder", &self.root))?;
        for parent in missing.iter().filter_map(|folder| folder.parent()) {
            self.sync_folder(parent)?;
        }
        Ok(())
    }
    /// Makes the names in a folder as safe as configured.
    pub(crate) fn sync_folder(&self, folder: &Path) -> Result<(), PersistenceError> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if self.durability < Durability::Sync {
            return Ok(());
        }
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("synchronise the folder", folder))
    }
}

/// Says what was tried on which path.
pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PersistenceError {
    let location = path.display().to_string();
    move |source| PersistenceError::Io { action, location, source }
}
