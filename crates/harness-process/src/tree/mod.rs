//! Finds and signals the descendants of a started process.
//!
//! On Linux `/proc` is searched, so that children which made a session of their own are found too; elsewhere
//! only the process group is known.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod pipe_holders;
#[cfg(target_os = "linux")]
mod proc_stat;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Members, scan};

#[cfg(not(target_os = "linux"))]
mod group_only;
#[cfg(not(target_os = "linux"))]
pub(crate) use group_only::{Members, scan};

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::process::Signal;

use crate::leader::Leader;

/// Searches repeat until nothing new is found: a tree can fork while it is being killed.
pub(crate) const KILL_ROUNDS: usize = 20;

/// The same where nobody waits between the rounds.
const KILL_NOW_ROUNDS: usize = 3;

/// The inode numbers of our output pipes, by which their holders can be recognised.
#[derive(Debug, Clone, Default)]
pub(crate) struct PipeIds(
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "holders are looked for in /proc"))]
    Vec<u64>,
);

impl PipeIds {
    pub(crate) fn of<'a>(pipes: impl Iterator<Item = &'a OwnedFd>) -> Self {
        let inode = |pipe: &OwnedFd| rustix::fs::fstat(pipe).ok().map(|stat| stat.st_ino);
        Self(pipes.filter_map(inode).collect())
    }
}

/// Kills whatever of the tree can be found, without grace and without waiting for the end.
pub(crate) fn kill_now(leader: &Arc<Leader>, pipes: &PipeIds) {
    let mut members = Members::default();
    for _ in 0..KILL_NOW_ROUNDS {
        // Searched before the kill: the chain of parents is lost with it.
        members = scan(leader, Some(pipes), members);
        members.signal(leader, Signal::KILL);
        if !members.alive(leader) {
            break;
        }
    }
}
