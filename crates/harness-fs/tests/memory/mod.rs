//! A file system in memory: no links, versions are a counter, edits are the provided method.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use harness_fs::contract::Fixture;
use harness_fs::*;

#[derive(Default)]
struct Files {
    by_path: BTreeMap<PathBuf, (Vec<u8>, u64)>,
    changes: u64,
}

impl Files {
    fn put(&mut self, path: &Path, bytes: &[u8]) -> Version {
        self.changes += 1;
        self.by_path.insert(path.to_owned(), (bytes.to_vec(), self.changes));
        Version::new(self.changes.to_string())
    }

    fn kind(&self, path: &Path) -> Option<FileKind> {
        if self.by_path.contains_key(path) {
            Some(FileKind::File)
        } else {
            let is_directory =
                path == Path::new("/w") || self.by_path.keys().any(|file| file.starts_with(path));
            is_directory.then_some(FileKind::Directory)
        }
    }

    fn file(&self, path: &ResolvedPath) -> Result<(&[u8], Version), FsError> {
        let display = || path.display().to_owned();
        match (self.by_path.get(path.real()), self.kind(path.real())) {
            (Some((bytes, version)), _) => Ok((bytes, Version::new(version.to_string()))),
            (None, Some(_)) => Err(FsError::IsDirectory { path: display() }),
            (None, None) => Err(FsError::NotFound { path: display() }),
        }
    }
}

#[derive(Default, Clone)]
pub(crate) struct Memory(Arc<Mutex<Files>>);

impl Memory {
    fn with<T>(&self, work: impl FnOnce(&mut Files) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl FileSystem for Memory {
    async fn resolve(&self, cwd: &Path, path: &str) -> Result<ResolvedPath, FsError> {
        let owned = || path.to_owned();
        if path.is_empty() || path.contains('\0') || !cwd.is_absolute() {
            return Err(FsError::InvalidPath { path: owned(), reason: "unusable" });
        }
        self.with(|files| {
            let mut real = PathBuf::from("/");
            for component in cwd.join(path).components() {
                let kind = if real == Path::new("/") { Some(FileKind::Directory) } else { files.kind(&real) };
                match (component, kind) {
                    (Component::Normal(_) | Component::ParentDir, Some(FileKind::File)) => {
                        return Err(FsError::NotDirectory { path: owned() });
                    }
                    (Component::Normal(name), _) => real.push(name),
                    (Component::ParentDir, None) => return Err(FsError::NotFound { path: owned() }),
                    (Component::ParentDir, _) => drop(real.pop()),
                    _ => {}
                }
            }
            match files.kind(&real) {
                Some(FileKind::File) if path.ends_with('/') => Err(FsError::NotDirectory { path: owned() }),
                None if path.ends_with('/') => {
                    Err(FsError::InvalidPath { path: owned(), reason: "no directory" })
                }
                Some(kind) => Ok(ResolvedPath::existing(path, real, kind)),
                None => Ok(ResolvedPath::absent(path, real)),
            }
        })
    }

    async fn stat(&self, path: &ResolvedPath) -> Result<FileStat, FsError> {
        self.with(|files| {
            let (bytes, version) = files.file(path)?;
            Ok(FileStat { kind: FileKind::File, size: bytes.len() as u64, modified: None, version })
        })
    }

    async fn read_text(&self, path: &ResolvedPath, window: TextWindow) -> Result<TextPage, FsError> {
        self.with(|files| {
            let (mut bytes, version) = files.file(path)?;
            let size = bytes.len() as u64;
            match scan_text(&mut bytes, window) {
                Ok(slice) => Ok(TextPage { slice, size, version }),
                Err(ScanError::NotText(reason)) => {
                    Err(FsError::NotText { path: path.display().into(), reason })
                }
                Err(error) => panic!("{error}"),
            }
        })
    }

    async fn read_bytes(&self, path: &ResolvedPath, limit: u64) -> Result<FileBytes, FsError> {
        let read = self.with(|files| {
            let (bytes, version) = files.file(path)?;
            let kept = bytes.len().min(usize::try_from(limit).unwrap());
            Ok(FileBytes { bytes: bytes[..kept].to_vec(), truncated: kept < bytes.len(), version })
        });
        // Whoever writes after this read has been overtaken.
        tokio::task::yield_now().await;
        read
    }

    async fn list_dir(&self, path: &ResolvedPath, limit: usize) -> Result<DirectoryList, FsError> {
        self.with(|files| {
            match files.kind(path.real()) {
                Some(FileKind::Directory) => {}
                Some(_) => return Err(FsError::NotDirectory { path: path.display().into() }),
                None => return Err(FsError::NotFound { path: path.display().into() }),
            }
            let mut entries: BTreeMap<OsString, FileKind> = BTreeMap::new();
            for file in files.by_path.keys().filter_map(|file| file.strip_prefix(path.real()).ok()) {
                let mut components = file.components();
                let name = components.next().unwrap().as_os_str().to_owned();
                let kind = if components.next().is_some() { FileKind::Directory } else { FileKind::File };
                entries.insert(name, kind);
            }
            let total = entries.len() as u64;
            let entries = entries.into_iter().take(limit).map(|(name, kind)| DirectoryEntry { name, kind });
            Ok(DirectoryList { entries: entries.collect(), total })
        })
    }

    async fn write_text(&self, request: WriteRequest) -> Result<WriteOutcome, FsError> {
        self.with(|files| {
            let path = || request.path.display().to_owned();
            if request.path.real().ancestors().skip(1).any(|parent| files.by_path.contains_key(parent)) {
                return Err(FsError::NotDirectory { path: path() });
            }
            let found = match files.file(&request.path) {
                Ok((bytes, version)) => Some((bytes.to_vec(), version)),
                Err(FsError::NotFound { .. }) => None,
                Err(error) => return Err(error),
            };
            match (&request.precondition, &found) {
                (Precondition::CreateOnly, Some(_)) => return Err(FsError::AlreadyExists { path: path() }),
                (Precondition::ReplaceVersion(expected), found)
                    if found.as_ref().map(|(_, version)| version) != Some(expected) =>
                {
                    return Err(FsError::Stale { path: path() });
                }
                _ => {}
            }
            let previous = found.as_ref().and_then(|(bytes, _)| decode_text(bytes).ok()).map(str::to_owned);
            let content = match (&previous, request.format) {
                (Some(previous), Format::Keep) => keep_format(previous, &request.content).into_owned(),
                _ => request.content.clone(),
            };
            let version = files.put(request.path.real(), content.as_bytes());
            let format_kept = content != request.content;
            Ok(WriteOutcome {
                version,
                created: found.is_none(),
                previous,
                format_kept,
                size: content.len() as u64,
            })
        })
    }
}

#[derive(Default)]
pub(crate) struct MemoryFixture(pub(crate) Memory);

#[async_trait]
impl Fixture for MemoryFixture {
    fn files(&self) -> Arc<dyn FileSystem> {
        Arc::new(self.0.clone())
    }

    fn root(&self) -> PathBuf {
        "/w".into()
    }

    async fn plant(&self, name: &str, bytes: &[u8]) {
        self.0.with(|files| files.put(&self.root().join(name), bytes));
    }

    async fn plant_link(&self, _: &str, _: &str) -> bool {
        false
    }

    async fn peek(&self, name: &str) -> Option<Vec<u8>> {
        self.0.with(|files| files.by_path.get(&self.root().join(name)).map(|(bytes, _)| bytes.clone()))
    }
}
