//! What an agent's commands find set up.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::RunRequest;

/// Shell files that every command of a scope reads first: the state of an agent's scope (`Ctx::state`), so that a
/// plugin can export variables to later commands. Whoever makes a [`RunRequest`] for an agent applies it.
#[derive(Debug, Default)]
pub struct SetupFiles(Mutex<Vec<PathBuf>>);

impl SetupFiles {
    /// Adds a file. It need not exist yet; a command skips what it cannot read.
    pub fn add(&self, file: PathBuf) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    /// The files, in the order in which they were added.
    pub fn files(&self) -> Vec<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Adds the files to a request.
    #[must_use]
    pub fn apply(&self, mut request: RunRequest) -> RunRequest {
        request.setup.extend(self.files());
        request
    }
}
