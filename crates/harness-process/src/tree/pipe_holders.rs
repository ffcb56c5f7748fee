//! Finds the processes that hold the writing end of an output pipe: whoever they are by now, they inherited it
//! from the started process.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::PipeIds;
use super::proc_stat::ProcStat;

/// Whether the process could still write to one of the pipes.
///
/// Only a copy of this very process, between fork and exec of another start, holds a reading end as well: that
/// one is none of the tree.
pub(super) fn holds_writing_end(process: &ProcStat, pipes: &PipeIds) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{}/fd", process.pid)) else { return false };
    let mut writes = false;
    for descriptor in descriptors.flatten().map(|entry| entry.path()) {
        if !pipe_inode(&descriptor).is_some_and(|inode| pipes.0.contains(&inode)) {
            continue;
        }
        // The permission bits of these links are the access mode of the descriptor (`proc_pid_fd(5)`).
        match std::fs::symlink_metadata(&descriptor).map(|link| link.mode() & 0o600) {
            Ok(0o200) => writes = true,
            Ok(_) => return false,
            Err(_) => {}
        }
    }
    writes
}

fn pipe_inode(descriptor: &Path) -> Option<u64> {
    let target = std::fs::read_link(descriptor).ok()?;
    target.to_str()?.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok()
}
