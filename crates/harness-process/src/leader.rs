//! The started process, which leads its own session and group, and the safe ways to signal it.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use crate::tree;

/// The started process. As long as it is not reaped its number stays taken, so a signal to the group cannot
/// reach a stranger; afterwards [`Leader::signal_group`] does nothing.
#[derive(Debug)]
pub(crate) struct Leader {
    pid: Pid,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Alive, or dead and not yet waited for.
    Present,
    Reaped(ExitStatus),
}

impl Leader {
    /// Takes over a child that nobody else waits for.
    pub(crate) fn new(pid: Pid) -> Self {
        Self { pid, state: Mutex::new(State::Present) }
    }

    /// Process, group and session id in one.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    pub(crate) fn reaped(&self) -> bool {
        matches!(*self.lock(), State::Reaped(_))
    }

    /// Signals every member of the group, unless the leader is reaped.
    pub(crate) fn signal_group(&self, signal: Signal) {
        if let State::Present = *self.lock() {
            match rustix::process::kill_process_group(self.pid, signal) {
                // Darwin refuses a group that consists of zombies only.
                Ok(()) | Err(rustix::io::Errno::SRCH | rustix::io::Errno::PERM) => {}
                Err(error) => tracing::warn!(%error, pid = ?self.pid, "signalling a process group failed"),
            }
        }
    }

    /// Collects the exit status if the process has ended.
    pub(crate) fn try_reap(&self) -> io::Result<Option<ExitStatus>> {
        let mut state = self.lock();
        if let State::Reaped(status) = *state {
            return Ok(Some(status));
        }
        let ended = rustix::process::waitpid(Some(self.pid), WaitOptions::NOHANG)?;
        let status = ended.map(|(_, status)| ExitStatus::from_raw(status.as_raw()));
        if let Some(status) = status {
            *state = State::Reaped(status);
        }
        Ok(status)
    }

    /// Whether the process has ended. Does not wait, and leaves the status to be collected.
    pub(crate) fn ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.reaped() || !matches!(rustix::process::waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    /// Whether the group has members beside the reaped leader (zombies of others included).
    pub(crate) fn group_remains(&self) -> bool {
        self.reaped() && rustix::process::test_kill_process_group(self.pid).is_ok()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Owns a started tree: dropping it kills what is left of the tree and reaps the leader.
#[derive(Debug)]
pub(crate) struct OwnedTree {
    leader: Arc<Leader>,
    pipes: tree::PipeIds,
    armed: bool,
}

impl OwnedTree {
    pub(crate) fn new(leader: Leader, pipes: tree::PipeIds) -> Self {
        Self { leader: Arc::new(leader), pipes, armed: true }
    }

    pub(crate) fn leader(&self) -> &Arc<Leader> {
        &self.leader
    }

    pub(crate) fn pipes(&self) -> &tree::PipeIds {
        &self.pipes
    }

    /// The tree has ended, or may go on.
    pub(crate) fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for OwnedTree {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        tree::kill_now(&self.leader, &self.pipes);
        if matches!(self.leader.try_reap(), Ok(Some(_))) {
            return;
        }
        let leader = Arc::clone(&self.leader);
        let reaper = move || {
            // Blocks without holding the lock; ends as soon as the kernel has finished the killed process.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let ended = rustix::process::waitid(WaitId::Pid(leader.pid), options);
            if ended.is_ok()
                && let Err(error) = leader.try_reap()
            {
                tracing::warn!(%error, pid = ?leader.pid, "reaping a killed process failed");
            }
        };
        if let Err(error) = std::thread::Builder::new().name("harness-reaper".into()).spawn(reaper) {
            tracing::warn!(%error, pid = ?self.leader.pid, "no thread to reap a killed process; it stays a zombie");
        }
    }
}
