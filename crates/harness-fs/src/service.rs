//! The provider seam.

use std::path::Path;

use async_trait::async_trait;
use harness_kernel::Service;

use crate::{
    DirectoryList, EditOutcome, EditRequest, FileBytes, FileStat, FsError, MAX_EDIT_BYTES, Precondition,
    ResolvedPath, TextPage, TextWindow, WriteOutcome, WriteRequest, apply_edit, decode_text,
};

/// Text files of one machine, real or not. The service name is `fs`.
///
/// A provider does what it is told: where a caller may write is decided on the `fs/*` events
/// ([`FileAccess`](crate::FileAccess)), before a request reaches the provider.
///
/// ```
/// use std::{path::Path, sync::Mutex};
/// use harness_fs::*;
///
/// /// One file, called `/note`.
/// struct Note(Mutex<String>);
///
/// #[async_trait::async_trait]
/// impl FileSystem for Note {
///     async fn resolve(&self, _: &Path, path: &str) -> Result<ResolvedPath, FsError> {
///         Ok(ResolvedPath::existing(path, "/note", FileKind::File))
///     }
///     async fn stat(&self, _: &ResolvedPath) -> Result<FileStat, FsError> {
///         let text = self.0.lock().unwrap();
///         let version = Version::new(text.as_str());
///         Ok(FileStat { kind: FileKind::File, size: text.len() as u64, modified: None, version })
///     }
///     async fn read_bytes(&self, _: &ResolvedPath, _: u64) -> Result<FileBytes, FsError> {
///         let text = self.0.lock().unwrap();
///         let version = Version::new(text.as_str());
///         Ok(FileBytes { bytes: text.as_bytes().to_vec(), truncated: false, version })
///     }
///     async fn write_text(&self, request: WriteRequest) -> Result<WriteOutcome, FsError> {
///         let (size, version) = (request.content.len() as u64, Version::new(request.content.as_str()));
///         let previous = Some(std::mem::replace(&mut *self.0.lock().unwrap(), request.content));
///         Ok(WriteOutcome { version, created: false, previous, format_kept: false, size })
///     }
///     async fn read_text(&self, _: &ResolvedPath, _: TextWindow) -> Result<TextPage, FsError> { todo!() }
///     async fn list_dir(&self, _: &ResolvedPath, _: usize) -> Result<DirectoryList, FsError> { todo!() }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let note = Note(Mutex::new("one\r\ntwo\r\n".into()));
/// let path = note.resolve(Path::new("/"), "note").await.unwrap();
/// note.edit_text(EditRequest::new(path, "one\ntwo", "ONE\ntwo")).await.unwrap(); // the provided method
/// assert_eq!(*note.0.lock().unwrap(), "ONE\r\ntwo\r\n");
/// # });
/// ```
#[async_trait]
pub trait FileSystem: Send + Sync {
    /// Follows every link of `path`, taken from the absolute directory `cwd` unless it is absolute itself.
    ///
    /// `..` means what it means to the operating system: the parent of the directory that the links before it lead
    /// to. Names that do not exist yet may end the path; `..` may not come after one.
    ///
    /// # Errors
    /// `FS_INVALID_PATH` for an empty path, a NUL, or a relative `cwd`; `FS_NOT_DIRECTORY` when the path goes on after
    /// a file; `FS_NOT_FOUND` for `..` after a missing name; `FS_IO` for a link loop or a directory that may not be
    /// searched.
    async fn resolve(&self, cwd: &Path, path: &str) -> Result<ResolvedPath, FsError>;

    /// Describes what is at the path.
    ///
    /// # Errors
    /// `FS_NOT_FOUND`, `FS_PATH_CHANGED`, `FS_IO`.
    async fn stat(&self, path: &ResolvedPath) -> Result<FileStat, FsError>;

    /// Reads a window of lines as a stream: memory is bounded by the window, whatever the size of the file.
    ///
    /// # Errors
    /// `FS_NOT_FOUND`, `FS_IS_DIRECTORY`, `FS_NOT_REGULAR`, `FS_NOT_TEXT`, `FS_PATH_CHANGED`, `FS_IO`.
    async fn read_text(&self, path: &ResolvedPath, window: TextWindow) -> Result<TextPage, FsError>;

    /// Reads at most `limit` bytes from the start.
    ///
    /// # Errors
    /// `FS_NOT_FOUND`, `FS_IS_DIRECTORY`, `FS_NOT_REGULAR`, `FS_PATH_CHANGED`, `FS_IO`.
    async fn read_bytes(&self, path: &ResolvedPath, limit: u64) -> Result<FileBytes, FsError>;

    /// Lists at most `limit` names, sorted by their bytes, without following links.
    ///
    /// # Errors
    /// `FS_NOT_FOUND`, `FS_NOT_DIRECTORY`, `FS_PATH_CHANGED`, `FS_IO`.
    async fn list_dir(&self, path: &ResolvedPath, limit: usize) -> Result<DirectoryList, FsError>;

    /// Writes a whole file: readers see the old content or the new, and after an error they see the old.
    ///
    /// # Errors
    /// `FS_ALREADY_EXISTS` and `FS_STALE` for an unmet precondition; `FS_IS_DIRECTORY`, `FS_NOT_REGULAR`,
    /// `FS_NOT_DIRECTORY`, `FS_PATH_CHANGED`, `FS_TOO_LARGE`, `FS_IO`, `FS_DAMAGED`.
    async fn write_text(&self, request: WriteRequest) -> Result<WriteOutcome, FsError>;

    /// Replaces literal text in a file, by the algorithm of [`apply_edit`].
    ///
    /// The version guard is checked before anything is matched. The provided body reads, applies and writes under a
    /// version guard of its own; override it to make concurrent edits of one file wait for each other.
    ///
    /// # Errors
    /// `FS_STALE`, the codes of [`EditRefusal`](crate::EditRefusal), and those of reading and writing.
    async fn edit_text(&self, request: EditRequest) -> Result<EditOutcome, FsError> {
        let file = self.read_bytes(&request.path, MAX_EDIT_BYTES).await?;
        let path = || request.path.display().to_owned();
        request.check_version(&file.version)?;
        if file.truncated {
            return Err(FsError::TooLarge { path: path(), size: MAX_EDIT_BYTES + 1, limit: MAX_EDIT_BYTES });
        }
        let source = decode_text(&file.bytes).map_err(|reason| FsError::NotText { path: path(), reason })?;
        let edited = apply_edit(source, &request.old, &request.new, request.replace_all)
            .map_err(|refusal| FsError::Edit { path: path(), refusal })?;
        let write = WriteRequest::new(request.path.clone(), edited.text)
            .with_precondition(Precondition::ReplaceVersion(file.version));
        let written = self.write_text(write).await?;
        Ok(EditOutcome { version: written.version, changes: edited.changes })
    }
}

impl Service for dyn FileSystem {
    const NAME: &'static str = "fs";
}
