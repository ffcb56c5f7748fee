//! Membership by session, group, chain of parents and inherited pipe; signals by identity.

use std::collections::HashMap;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::PipeIds;
use super::pipe_holders::holds_writing_end;
use super::proc_stat::ProcStat;
use crate::leader::Leader;

/// The members of a tree other than its leader, as far as they were seen alive.
#[derive(Debug, Default)]
pub(crate) struct Members(HashMap<i32, ProcStat>);

impl Members {
    /// Whether one of them is still alive.
    pub(crate) fn alive(&self, _leader: &Leader) -> bool {
        self.0.values().any(is_same_and_alive)
    }

    /// Signals the group and every member outside it, or each member by itself once the leader is reaped.
    pub(crate) fn signal(&self, leader: &Leader, signal: Signal) {
        let by_group = !leader.reaped();
        let group = leader.pid().as_raw_pid();
        leader.signal_group(signal);
        for member in self.0.values().filter(|member| !by_group || member.group != group) {
            if let Err(error) = signal_process(member, signal) {
                tracing::warn!(%error, pid = member.pid, "signalling a descendant failed");
            }
        }
    }
}

/// Looks for members; those already `known` stay members although their parents may have ended since. With
/// `pipes`, processes that hold one of these pipes count too.
pub(crate) fn scan(leader: &Arc<Leader>, pipes: Option<&PipeIds>, known: Members) -> Members {
    let processes = ProcStat::all();
    let mut members = family(leader.pid().as_raw_pid(), leader.reaped(), &processes, known.0);
    if let Some(pipes) = pipes.filter(|pipes| !pipes.0.is_empty()) {
        let excluded = [std::process::id().cast_signed(), leader.pid().as_raw_pid()];
        let others = processes.iter().filter(|process| !process.dead && !excluded.contains(&process.pid));
        for holder in others.filter(|process| holds_writing_end(process, pipes)) {
            members.insert(holder.pid, *holder);
        }
    }
    Members(members)
}

fn family(
    leader: i32,
    reaped: bool,
    processes: &[ProcStat],
    mut members: HashMap<i32, ProcStat>,
) -> HashMap<i32, ProcStat> {
    // While a group or session has members its number is not given away. So a process that bears the number of
    // the reaped leader is a stranger, and the group and session of that number are a stranger's.
    let number_is_foreign = reaped && processes.iter().any(|process| process.pid == leader);
    // A dead member leads nowhere: its children have other parents now, and its number may be a stranger's.
    members.retain(|_, member| {
        processes.iter().any(|now| !now.dead && (now.pid, now.start) == (member.pid, member.start))
    });
    loop {
        let before = members.len();
        for process in processes.iter().filter(|process| !process.dead && process.pid != leader) {
            let in_session = process.session == leader || process.group == leader;
            let is_child = process.parent == leader && !reaped;
            let is_grandchild = members.contains_key(&process.parent);
            if (in_session && !number_is_foreign) || is_child || is_grandchild {
                members.insert(process.pid, *process);
            }
        }
        if members.len() == before {
            return members;
        }
    }
}

fn is_same_and_alive(member: &ProcStat) -> bool {
    ProcStat::of(member.pid).is_some_and(|now| now.start == member.start && !now.dead)
}

/// Signals this very process, never another that got its number since.
fn signal_process(member: &ProcStat, signal: Signal) -> Result<(), Errno> {
    let Some(pid) = Pid::from_raw(member.pid) else { return Ok(()) };
    let sent = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        // The descriptor pins the process, so identity is checked after opening it.
        Ok(_) | Err(Errno::NOSYS) if !is_same_and_alive(member) => Ok(()),
        Ok(pidfd) => rustix::process::pidfd_send_signal(pidfd, signal),
        // Linux before 5.3 has no pidfd; the check right before the kill is the best there is.
        Err(Errno::NOSYS) => rustix::process::kill_process(pid, signal),
        Err(error) => Err(error),
    };
    match sent {
        // It ended by itself meanwhile.
        Err(Errno::SRCH) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, group: i32, session: i32) -> ProcStat {
        ProcStat { pid, parent, group, session, start: 1, dead: false }
    }

    fn pids(leader: i32, reaped: bool, processes: &[ProcStat], known: &[ProcStat]) -> Vec<i32> {
        let known = known.iter().map(|member| (member.pid, *member)).collect();
        let mut pids: Vec<i32> = family(leader, reaped, processes, known).into_keys().collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn session_group_and_chain_of_parents_all_count() {
        let processes = [
            process(1, 0, 1, 1),
            process(100, 50, 100, 100),
            process(101, 100, 100, 100), // ordinary child
            process(102, 1, 100, 100),   // orphan in the group
            process(103, 1, 103, 100),   // orphan in the session, group of its own
            process(106, 105, 104, 104), // listed before its parents
            process(105, 104, 104, 104), // grandchild of an escapee
            process(104, 100, 104, 104), // escapee with setsid
            process(200, 50, 200, 200),  // another run
        ];
        assert_eq!(pids(100, false, &processes, &[]), [101, 102, 103, 104, 105, 106]);
    }

    #[test]
    fn a_known_escapee_stays_a_member_after_its_parent_has_ended() {
        let escapee = process(104, 1, 104, 104);
        assert_eq!(pids(100, false, &[escapee, process(105, 104, 104, 104)], &[]), [0; 0]);
        assert_eq!(pids(100, false, &[escapee, process(105, 104, 104, 104)], &[escapee]), [104, 105]);
    }

    #[test]
    fn the_dead_and_whoever_got_their_numbers_are_not_members() {
        let dead = ProcStat { dead: true, ..process(101, 100, 100, 100) };
        assert_eq!(pids(100, false, &[dead], &[dead]), [0; 0]);
        let stranger = ProcStat { start: 2, ..process(104, 1, 104, 104) };
        let strangers_child = process(105, 104, 104, 104);
        assert_eq!(pids(100, false, &[stranger, strangers_child], &[process(104, 100, 104, 104)]), [0; 0]);
    }

    #[test]
    fn a_reused_leader_number_makes_group_and_session_foreign() {
        let processes = [process(100, 1, 100, 100), process(101, 100, 100, 100)];
        assert_eq!(pids(100, true, &processes, &[]), [0; 0]);
        assert_eq!(pids(100, true, &processes[1..], &[]), [101]);
    }

    #[test]
    fn a_process_that_reuses_a_number_is_not_signalled() {
        let mut bystander = std::process::Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let pid = bystander.id().cast_signed();
        let real = ProcStat::of(pid).unwrap();
        signal_process(&ProcStat { start: real.start + 1, ..real }, Signal::KILL).unwrap();
        signal_process(&real, Signal::TERM).unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&bystander.wait().unwrap()), Some(15));
    }
}
