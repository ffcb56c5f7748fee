//! Without `/proc`: the process group is all that is known of a tree.

use std::sync::Arc;

use rustix::process::Signal;

use super::PipeIds;
use crate::leader::Leader;

/// Stands for the members of the group.
#[derive(Debug, Default)]
pub(crate) struct Members;

impl Members {
    pub(crate) fn alive(&self, leader: &Leader) -> bool {
        leader.group_remains()
    }

    pub(crate) fn signal(&self, leader: &Leader, signal: Signal) {
        if leader.group_remains() {
            // Group numbers are not reused while the group has members, and it had some just now.
            if let Err(error) = rustix::process::kill_process_group(leader.pid(), signal) {
                tracing::debug!(%error, "the rest of a process group ended by itself");
            }
        } else {
            leader.signal_group(signal);
        }
    }
}

pub(crate) fn scan(_leader: &Arc<Leader>, _pipes: Option<&PipeIds>, _known: Members) -> Members {
    Members
}
