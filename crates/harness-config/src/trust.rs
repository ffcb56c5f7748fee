//! Which project files a person trusts: by folder and by content, so that a changed file is asked about again.
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::ConfigError;

/// The store.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    path: PathBuf,
    trusted: BTreeMap<String, String>,
}

impl Trust {
    /// Reads the store; a missing file trusts nothing.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let trusted = match crate::file::text(path)? {
            None => BTreeMap::new(),
            Some(text) => serde_json::from_str(&text).map_err(|error| ConfigError::Syntax {
                path: path.to_owned(),
                line: error.line(),
                detail: error.to_string(),
            })?,
        };
        Ok(Self { path: path.to_owned(), trusted })
    }
    /// Whether exactly this content is trusted in this folder.
    pub fn covers(&self, root: &Path, content: &str) -> bool {
        self.trusted.get(&*root.to_string_lossy()).is_some_and(|known| known == content)
    }
    /// Trusts exactly this content in this folder, and stores it.
    pub fn grant(&mut self, root: &Path, content: &str) -> Result<(), ConfigError> {
        self.trusted.insert(root.to_string_lossy().into_owned(), content.to_owned());
        let failed = |source| ConfigError::Io { path: self.path.clone(), source };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let text = serde_json::to_string_pretty(&self.trusted).unwrap_or_default();
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}
