//! The provider.

use std::path::Path;

use async_trait::async_trait;
use harness_fs::{
    DirectoryList, EditOutcome, EditRequest, FileBytes, FileStat, FileSystem, FsError, ResolvedPath,
    TextPage, TextWindow, WriteOutcome, WriteRequest,
};

use crate::blocking::{run, run_read};
use crate::directory::Entry;
use crate::lock::Locks;
use crate::{edit, list, read, resolve, write};

/// The files of this machine. Writers of one file through one value of this type wait for each other.
#[derive(Default)]
pub struct LocalFileSystem {
    locks: Locks,
}

#[async_trait]
impl FileSystem for LocalFileSystem {
    async fn resolve(&self, cwd: &Path, path: &str) -> Result<ResolvedPath, FsError> {
        let (cwd, owned) = (cwd.to_owned(), path.to_owned());
        run(path, move || resolve::resolve(&cwd, &owned)).await
    }

    async fn stat(&self, path: &ResolvedPath) -> Result<FileStat, FsError> {
        let owned = path.clone();
        run(path.display(), move || Ok(Entry::open(&owned)?.state()?.describe())).await
    }

    async fn read_text(&self, path: &ResolvedPath, window: TextWindow) -> Result<TextPage, FsError> {
        let owned = path.clone();
        run_read(path.display(), move |stop| read::text(&owned, window, stop)).await
    }

    async fn read_bytes(&self, path: &ResolvedPath, limit: u64) -> Result<FileBytes, FsError> {
        let owned = path.clone();
        run_read(path.display(), move |stop| read::bytes(&owned, limit, stop)).await
    }

    async fn list_dir(&self, path: &ResolvedPath, limit: usize) -> Result<DirectoryList, FsError> {
        let owned = path.clone();
        run(path.display(), move || list::list(&owned, limit)).await
    }

    async fn write_text(&self, request: WriteRequest) -> Result<WriteOutcome, FsError> {
        let lock = self.locks.acquire(request.path.real()).await;
        let display = request.path.display().to_owned();
        run(&display, move || {
            let _lock = lock;
            write::write(&request)
        })
        .await
    }

    async fn edit_text(&self, request: EditRequest) -> Result<EditOutcome, FsError> {
        let lock = self.locks.acquire(request.path.real()).await;
        let display = request.path.display().to_owned();
        run(&display, move || {
            let _lock = lock;
            edit::edit(&request)
        })
        .await
    }
}
