//! A provider over a temporary directory.
#![allow(dead_code, reason = "each test uses its own part")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use harness_fs::contract::Fixture;
use harness_fs::{
    EditOutcome, EditRequest, FileSystem, FsError, ResolvedPath, TextPage, TextWindow, WriteOutcome,
    WriteRequest,
};
use harness_fs_local::LocalFileSystem;
use tempfile::TempDir;

pub(crate) struct Sandbox {
    directory: TempDir,
    files: Arc<LocalFileSystem>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { directory: TempDir::new().unwrap(), files: Arc::default() }
    }
}

impl Sandbox {
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) async fn path(&self, name: &str) -> ResolvedPath {
        self.files.resolve(self.directory.path(), name).await.unwrap()
    }

    pub(crate) async fn write(&self, name: &str, content: &str) -> Result<WriteOutcome, FsError> {
        self.files.write_text(WriteRequest::new(self.path(name).await, content)).await
    }

    pub(crate) async fn edit(&self, name: &str, old: &str, new: &str) -> Result<EditOutcome, FsError> {
        self.files.edit_text(EditRequest::new(self.path(name).await, old, new)).await
    }

    pub(crate) async fn read(&self, name: &str) -> Result<TextPage, FsError> {
        self.files.read_text(&self.path(name).await, TextWindow::default()).await
    }

    /// The names below the directory, temporary files included.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.directory.path())
    }
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        names.push(entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            names.extend(self::names(&entry.path()));
        }
    }
    names.sort();
    names
}

#[async_trait]
impl Fixture for Sandbox {
    fn files(&self) -> Arc<dyn FileSystem> {
        self.files.clone()
    }

    fn root(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    async fn plant(&self, name: &str, bytes: &[u8]) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A new inode: two writes in one tick of the clock would look like one.
        let fresh = path.with_extension("planted");
        fs::write(&fresh, bytes).unwrap();
        fs::rename(&fresh, &path).unwrap();
    }

    async fn plant_link(&self, name: &str, target: &str) -> bool {
        symlink(target, self.at(name)).unwrap();
        true
    }

    async fn peek(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.at(name)).ok()
    }
}
