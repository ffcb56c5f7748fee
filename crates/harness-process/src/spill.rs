//! Saves an output that is too long for memory, from its first byte, in a private file.
//!
//! Blocks are written by the runtime's blocking threads, one at a time, while the next one fills. The file is
//! created only when the first block is due, and removed again if the run is given up or a write fails: a full
//! disk gets its space back at once.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::NamedTempFile;
use tokio::task::JoinHandle;

/// The size at which a spill file stops growing unless a policy says otherwise: 512 MiB.
pub const DEFAULT_SPILL_CAP: u64 = 512 * 1024 * 1024;

/// Collected bytes that start a write.
const BLOCK: usize = 256 * 1024;

/// A disk that takes longer than this for the last block is given up: a result must not hang on it.
const FINISH_PATIENCE: Duration = Duration::from_secs(10);

/// Where long outputs are saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillPolicy {
    /// Folder for the files. Created with mode 0700 when it is first needed; an existing one that other users
    /// could write to is refused. Files have random names and mode 0600, and are never removed by this crate.
    pub directory: PathBuf,
    /// Most bytes of one file.
    pub cap_bytes: u64,
}

impl SpillPolicy {
    /// Files of at most [`DEFAULT_SPILL_CAP`] bytes in this folder.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), cap_bytes: DEFAULT_SPILL_CAP }
    }
}

/// What was saved.
#[derive(Debug)]
#[non_exhaustive]
pub struct SpillOutcome {
    /// The file; none if it could not be written.
    pub path: Option<PathBuf>,
    /// Its length.
    pub bytes: u64,
    /// Whether it holds every byte that was read.
    pub complete: bool,
    /// Why there is no file.
    pub error: Option<SpillError>,
}

/// Why an output could not be saved.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} in {}", directory.display())]
pub struct SpillError {
    directory: PathBuf,
    action: &'static str,
    #[source]
    source: io::Error,
}

impl SpillError {
    /// A stable identifier.
    pub fn code(&self) -> &'static str {
        if self.source.kind() == io::ErrorKind::StorageFull { "SPILL_DISK_FULL" } else { "SPILL_FAILED" }
    }
}

#[derive(Debug)]
enum Slot {
    NotCreated,
    Open(NamedTempFile),
    Writing(JoinHandle<Result<(NamedTempFile, Vec<u8>), SpillError>>),
    Failed(SpillError),
}

/// The spill of one stream.
#[derive(Debug)]
pub(crate) struct Spill {
    policy: SpillPolicy,
    slot: Slot,
    filling: Vec<u8>,
    spare: Vec<u8>,
    accepted: u64,
    complete: bool,
}

impl Spill {
    pub(crate) fn new(policy: SpillPolicy) -> Self {
        Self {
            policy,
            slot: Slot::NotCreated,
            filling: Vec::new(),
            spare: Vec::new(),
            accepted: 0,
            complete: true,
        }
    }

    /// Takes the next bytes of the stream. Call [`Self::settle`] before the next push when it asks for that.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.policy.cap_bytes - self.accepted).unwrap_or(usize::MAX);
        let taken = &bytes[..bytes.len().min(room)];
        self.complete &= taken.len() == bytes.len();
        self.accepted += taken.len() as u64;
        if !matches!(self.slot, Slot::Failed(_)) {
            self.filling.extend_from_slice(taken);
        }
        if self.filling.len() >= BLOCK {
            self.begin_write();
        }
    }

    /// Whether memory use would grow if more were pushed before the running write ends.
    pub(crate) fn backed_up(&self) -> bool {
        self.filling.len() >= BLOCK && matches!(self.slot, Slot::Writing(_))
    }

    /// Waits for the running write. Cancel safe.
    pub(crate) async fn settle(&mut self) {
        let Slot::Writing(write) = &mut self.slot else { return };
        self.slot = match write.await {
            Ok(Ok((file, buffer))) => {
                self.spare = buffer;
                Slot::Open(file)
            }
            Ok(Err(error)) => Slot::Failed(error),
            Err(aborted) => {
                Slot::Failed(self.policy.error("write the full output", io::Error::other(aborted)))
            }
        };
        if matches!(self.slot, Slot::Failed(_)) {
            self.filling = Vec::new();
        }
    }

    /// Writes the rest and gives the file its place.
    pub(crate) async fn finish(mut self) -> SpillOutcome {
        let rest = async {
            self.settle().await;
            self.begin_write();
            self.settle().await;
        };
        if tokio::time::timeout(FINISH_PATIENCE, rest).await.is_err() {
            let hung = io::Error::new(io::ErrorKind::TimedOut, "the disk does not answer");
            self.slot = Slot::Failed(self.policy.error("write the full output", hung));
        }
        let kept = match self.slot {
            Slot::Open(file) => file
                .keep()
                .map_err(|error| self.policy.error("keep the full output", error.error))
                .map(|kept| kept.1),
            Slot::Failed(error) => Err(error),
            Slot::NotCreated | Slot::Writing(_) => {
                Err(self.policy.error("write the full output", io::Error::other("nothing was written")))
            }
        };
        match kept {
            Ok(path) => {
                SpillOutcome { path: Some(path), bytes: self.accepted, complete: self.complete, error: None }
            }
            Err(error) => SpillOutcome { path: None, bytes: 0, complete: false, error: Some(error) },
        }
    }

    fn begin_write(&mut self) {
        let file = match std::mem::replace(&mut self.slot, Slot::NotCreated) {
            Slot::NotCreated => None,
            Slot::Open(file) => Some(file),
            busy @ (Slot::Writing(_) | Slot::Failed(_)) => {
                self.slot = busy;
                return;
            }
        };
        let buffer = std::mem::replace(&mut self.filling, std::mem::take(&mut self.spare));
        let policy = self.policy.clone();
        self.slot = Slot::Writing(tokio::task::spawn_blocking(move || policy.write_block(file, buffer)));
    }
}

impl SpillPolicy {
    fn write_block(
        &self,
        file: Option<NamedTempFile>,
        mut buffer: Vec<u8>,
    ) -> Result<(NamedTempFile, Vec<u8>), SpillError> {
        let mut file = match file {
            Some(file) => file,
            None => self.create()?,
        };
        file.write_all(&buffer).map_err(|source| self.error("write the full output", source))?;
        buffer.clear();
        Ok((file, buffer))
    }

    fn create(&self) -> Result<NamedTempFile, SpillError> {
        private_directory(&self.directory).map_err(|source| self.error("make a private folder", source))?;
        tempfile::Builder::new()
            .prefix("output-")
            .suffix(".log")
            .rand_bytes(12)
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(&self.directory)
            .map_err(|source| self.error("create a spill file", source))
    }

    fn error(&self, action: &'static str, source: io::Error) -> SpillError {
        SpillError { directory: self.directory.clone(), action, source }
    }
}

fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let metadata = std::fs::metadata(path)?;
    let ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if ours && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "other users can write to this folder; use a private one",
    ))
}

#[cfg(test)]
mod tests {
    use tempfile::TempPath;

    use super::*;

    async fn spill(policy: SpillPolicy, chunks: &[&[u8]]) -> SpillOutcome {
        let mut spill = Spill::new(policy);
        for chunk in chunks {
            spill.push(chunk);
            if spill.backed_up() {
                spill.settle().await;
            }
        }
        spill.finish().await
    }

    fn entries(directory: &Path) -> usize {
        std::fs::read_dir(directory).unwrap().count()
    }

    #[tokio::test]
    async fn folder_and_file_are_private_and_the_bytes_are_all_there() {
        let root = tempfile::tempdir().unwrap();
        let policy = SpillPolicy::new(root.path().join("new/spill"));
        let block = vec![b'x'; BLOCK];
        let outcome = spill(policy.clone(), &[&block, b"and", &block, b"the end"]).await;
        let path = outcome.path.unwrap();
        assert!(outcome.complete);
        assert_eq!(std::fs::read(&path).unwrap(), [block.as_slice(), b"and", &block, b"the end"].concat());
        assert_eq!(outcome.bytes, (2 * BLOCK + 10) as u64);
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(policy.directory.metadata().unwrap().mode() & 0o777, 0o700);
    }

    #[tokio::test]
    async fn a_file_at_its_cap_says_that_it_is_not_complete() {
        let root = tempfile::tempdir().unwrap();
        let policy = SpillPolicy { cap_bytes: 5, ..SpillPolicy::new(root.path()) };
        let outcome = spill(policy, &[b"abc", b"defg", b"h"]).await;
        assert_eq!(std::fs::read(outcome.path.unwrap()).unwrap(), b"abcde");
        assert_eq!((outcome.bytes, outcome.complete), (5, false));
    }

    #[tokio::test]
    async fn a_full_disk_is_reported_and_gets_its_space_back() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("partial");
        std::fs::write(&place, "").unwrap();
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut spill = Spill::new(SpillPolicy::new(root.path()));
        spill.slot = Slot::Open(NamedTempFile::from_parts(full, TempPath::try_from_path(&place).unwrap()));
        for _ in 0..8 {
            spill.push(&vec![0; BLOCK]);
            spill.settle().await;
        }
        assert_eq!(spill.filling.capacity(), 0, "nothing may be buffered after a failure");
        let outcome = spill.finish().await;
        assert_eq!(outcome.error.as_ref().map(SpillError::code), Some("SPILL_DISK_FULL"));
        assert!(outcome.path.is_none() && !outcome.complete);
        assert_eq!(entries(root.path()), 0);
    }

    #[tokio::test]
    async fn a_folder_that_others_can_write_to_is_refused() {
        let root = tempfile::tempdir().unwrap();
        std::fs::set_permissions(root.path(), Permissions::from_mode(0o777)).unwrap();
        let outcome = spill(SpillPolicy::new(root.path()), &[b"secret"]).await;
        assert!(outcome.error.is_some());
        assert_eq!(entries(root.path()), 0);
    }

    #[tokio::test]
    async fn a_run_that_is_given_up_leaves_no_file() {
        let root = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(SpillPolicy::new(root.path()));
        spill.push(&vec![0; BLOCK]);
        spill.settle().await;
        assert_eq!(entries(root.path()), 1);
        drop(spill);
        assert_eq!(entries(root.path()), 0);
    }
}
