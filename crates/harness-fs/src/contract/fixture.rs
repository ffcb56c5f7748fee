//! What the suite needs from a provider's test.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    EditOutcome, EditRequest, FileSystem, FsError, ResolvedPath, Version, WriteOutcome, WriteRequest,
};

/// A provider over a fresh directory, and a way around the provider to arrange and inspect what is in it.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// The provider under test.
    fn files(&self) -> Arc<dyn FileSystem>;

    /// The absolute directory, empty at first, below which all names of the suite lie.
    fn root(&self) -> PathBuf;

    /// Puts a file there behind the provider's back, and directories on the way to it. A file that exists is
    /// replaced, in such a way that its version changes.
    async fn plant(&self, name: &str, bytes: &[u8]);

    /// Puts a link there; `target` is relative to the directory of the link. `false` if there are no links here.
    async fn plant_link(&self, name: &str, target: &str) -> bool;

    /// The bytes of a file, read behind the provider's back; `None` if there is none.
    async fn peek(&self, name: &str) -> Option<Vec<u8>>;
}

impl dyn Fixture + '_ {
    pub(super) async fn path(&self, name: &str) -> ResolvedPath {
        self.files().resolve(&self.root(), name).await.unwrap()
    }

    pub(super) async fn version(&self, name: &str) -> Version {
        self.files().stat(&self.path(name).await).await.unwrap().version
    }

    pub(super) async fn write(
        &self,
        name: &str,
        content: &str,
        shape: impl Fn(WriteRequest) -> WriteRequest + Send,
    ) -> Result<WriteOutcome, FsError> {
        self.files().write_text(shape(WriteRequest::new(self.path(name).await, content))).await
    }

    pub(super) async fn edit(
        &self,
        name: &str,
        old: &str,
        new: &str,
        shape: impl Fn(EditRequest) -> EditRequest + Send,
    ) -> Result<EditOutcome, FsError> {
        self.files().edit_text(shape(EditRequest::new(self.path(name).await, old, new))).await
    }

    pub(super) async fn holds(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let found = self.peek(name).await.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(found.as_deref(), Some(&*String::from_utf8_lossy(bytes.as_ref())), "content of {name}");
    }
}

#[track_caller]
pub(super) fn refused<T: std::fmt::Debug>(result: Result<T, FsError>, code: &str) -> FsError {
    let error = result.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    error
}
