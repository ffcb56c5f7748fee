//! An agent with bare file tools over a real directory: each asks, acts and reports, as a real tool does.
#![allow(dead_code, reason = "each test uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harness_fs::{
    EditOutcome, EditRequest, FileAccess, FileSystem, FsError, Owner, Seen, TextPage, TextWindow, Workspace,
    WriteOutcome, WriteRequest,
};
use harness_fs_local::FsLocal;
use harness_fs_policy::{FsPolicy, FsPolicyConfig};
use harness_kernel::{App, Running};
use tempfile::TempDir;

/// A directory `W` with the workspace `W/ws` in it.
pub(crate) struct World {
    pub(crate) directory: TempDir,
    pub(crate) app: Running,
    pub(crate) policy: FsPolicy,
}

impl World {
    pub(crate) async fn new(config: impl FnOnce(&Path) -> FsPolicyConfig) -> Self {
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("ws")).unwrap();
        let policy = FsPolicy::new(config(directory.path()));
        // The policy comes first in the list and starts second: it needs the provider.
        let app = App::default().with(policy.clone()).with(FsLocal).start().await.unwrap();
        Self { directory, app, policy }
    }

    pub(crate) async fn with_default_policy() -> Self {
        Self::new(|_| FsPolicyConfig::default()).await
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn plant(&self, name: &str, content: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A new inode: two writes in one tick of the clock would look like one.
        let fresh = path.with_extension("planted");
        fs::write(&fresh, content).unwrap();
        fs::rename(fresh, path).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    pub(crate) fn agent(&self, owner: &str) -> Agent<'_> {
        Agent { app: &self.app, owner: Owner::new(owner), root: self.at("ws") }
    }
}

pub(crate) struct Agent<'a> {
    pub(crate) app: &'a Running,
    pub(crate) owner: Owner,
    pub(crate) root: PathBuf,
}

impl Agent<'_> {
    fn files(&self) -> Arc<dyn FileSystem> {
        self.app.ctx().service::<dyn FileSystem>().unwrap()
    }

    async fn access(&self, name: &str) -> FileAccess {
        let files = self.files();
        let workspace = Workspace::resolve(&*files, &[&self.root]).await.unwrap();
        let path = files.resolve(&self.root, name).await.unwrap();
        FileAccess::new(self.owner.clone(), workspace, path)
    }

    pub(crate) async fn read(&self, name: &str) -> Result<TextPage, FsError> {
        let access = self.access(name).await;
        access.may_read(self.app.ctx()).await?;
        let result = self.files().read_text(access.path(), TextWindow::default()).await;
        match &result {
            Ok(page) => access.observed(self.app.ctx(), Seen::Present(page.version.clone())),
            Err(FsError::NotFound { .. }) => access.observed(self.app.ctx(), Seen::Absent),
            Err(_) => {}
        }
        result
    }

    pub(crate) async fn write(&self, name: &str, content: &str) -> Result<WriteOutcome, FsError> {
        let access = self.access(name).await;
        let precondition = access.may_write(self.app.ctx()).await?;
        let request = WriteRequest::new(access.path().clone(), content).with_precondition(precondition);
        let outcome = self.files().write_text(request).await?;
        access.observed(self.app.ctx(), Seen::Present(outcome.version.clone()));
        Ok(outcome)
    }

    pub(crate) async fn edit(&self, name: &str, old: &str, new: &str) -> Result<EditOutcome, FsError> {
        let access = self.access(name).await;
        let expected = access.may_edit(self.app.ctx()).await?;
        let request = EditRequest::new(access.path().clone(), old, new).expecting(expected);
        let outcome = self.files().edit_text(request).await?;
        access.observed(self.app.ctx(), Seen::Present(outcome.version.clone()));
        Ok(outcome)
    }
}

#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, FsError>, code: &str, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error} should contain {words:?}");
}
