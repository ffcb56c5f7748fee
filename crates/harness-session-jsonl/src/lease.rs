//! The writer lease: an operating-system lock on the log's own inode.
//!
//! The lock is on the file itself, so every path and link to it leads to the same lock, and the system drops it
//! when the process ends, however it ends. The record beside the log only tells people who has it.
use std::fs::{self, File, TryLockError};
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{io, process, thread};

use harness_session::SessionId;
use harness_session_persistence::{LeaseOwner, PersistenceError};
use rustix::process::{Pid, test_kill_process};

const OWNER: &str = "owner.json";
/// How long a lock may outlive its owner: by far longer than a child takes to become its command.
const PATIENCE: Duration = Duration::from_secs(1);

/// Proof that this process may write. The lock itself belongs to the file and ends when that is closed.
#[derive(Debug)]
pub(crate) struct Lease {
    record: PathBuf,
}

impl Lease {
    /// Tells others that this process has locked the log.
    pub(crate) fn record(log: &Path) -> Self {
        let lease = Self { record: record_of(log) };
        if let Err(error) = lease.write_record() {
            tracing::warn!(%error, record = %lease.record.display(), "others cannot be told who has the session");
            fs::remove_file(&lease.record).ok(); // at least it names nobody wrong
        }
        lease
    }
    /// The log was published under another path.
    pub(crate) fn moved_to(&mut self, log: &Path) {
        self.record = record_of(log);
    }
    fn write_record(&self) -> io::Result<()> {
        let host = host_name();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let since = since.and_then(|since| i64::try_from(since.as_millis()).ok());
        let record = serde_json::to_vec(&LeaseOwner { pid: process::id(), host: Some(host), since })?;
        let mut file =
            File::options().write(true).create(true).truncate(true).mode(0o600).open(&self.record)?;
        io::Write::write_all(&mut file, &record)
    }
}
impl Drop for Lease {
    /// Before the file is closed, so that the record of the next owner cannot be hit.
    fn drop(&mut self) {
        fs::remove_file(&self.record).ok(); // a record that stays is as harmless as that of a killed owner
    }
}

/// Locks a log or says who has it.
///
/// An owner that was killed while it started a command leaves the lock to the child until that has become the command:
/// this is waited for.
pub(crate) fn lock(file: &File, log: &Path, id: SessionId) -> Result<(), PersistenceError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {
                let owner = owner(file, log);
                if started.elapsed() > PATIENCE || !owner.as_ref().is_some_and(is_gone) {
                    return Err(PersistenceError::InUse { id, owner });
                }
                thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::Error(source)) => return Err(crate::layout::io("lock", log)(source)),
        }
    }
}

/// Whether the owner is a process of this host that has ended.
fn is_gone(owner: &LeaseOwner) -> bool {
    let here = owner.host.as_ref().is_none_or(|host| *host == host_name());
    let pid = i32::try_from(owner.pid).ok().and_then(Pid::from_raw);
    here && pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Where a link leads to: all links share one record.
fn record_of(log: &Path) -> PathBuf {
    fs::canonicalize(log).as_deref().unwrap_or(log).with_file_name(OWNER)
}

fn owner(file: &File, log: &Path) -> Option<LeaseOwner> {
    let recorded = fs::read(record_of(log)).ok().and_then(|record| serde_json::from_slice(&record).ok());
    recorded.or_else(|| Some(LeaseOwner { pid: locking_pid(file)?, host: None, since: None }))
}

/// The process that locks a file according to Linux (`proc_locks(5)`), for a log reached through a hard link.
#[cfg(target_os = "linux")]
fn locking_pid(file: &File) -> Option<u32> {
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let metadata = file.metadata().ok()?;
    let device = metadata.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let wanted = format!("{major:02x}:{minor:02x}:{}", metadata.ino());
    locks.lines().find_map(|line| {
        let mut fields = line.split_whitespace().filter(|field| *field != "->");
        let (kind, pid, inode) = (fields.nth(1)?, fields.nth(2)?, fields.next()?);
        (kind == "FLOCK" && inode == wanted).then(|| pid.parse().ok())?
    })
}

#[cfg(not(target_os = "linux"))]
fn locking_pid(_: &File) -> Option<u32> {
    None // no portable way to ask
}
