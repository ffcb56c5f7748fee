//! Ends a tree: SIGTERM, grace, SIGKILL, until nothing of it can be found.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, sleep_until};

use crate::run::Running;
use crate::tree::{self, KILL_ROUNDS, Members};

/// How often the members of a dying tree are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// Longest wait after each SIGKILL.
const KILL_WAIT: Duration = Duration::from_millis(50);

/// What became of the processes beside the leader.
#[derive(Debug, Default)]
pub(crate) struct Descendants {
    /// Some were alive and were sent signals.
    pub(crate) killed: bool,
    /// Some are alive still.
    pub(crate) left: bool,
}

impl Running {
    /// Ends the whole tree, or what is left of it if the leader has ended already, while output keeps flowing.
    pub(crate) async fn terminate(&mut self, grace: Duration) -> Descendants {
        // Searched before the first signal: the chain of parents is lost with it.
        let mut members = self.search(Members::default()).await;
        let mut killed = members.alive(self.leader());
        members.signal(self.leader(), Signal::TERM);
        self.pump_until_quiet(&members, grace).await;

        for _ in 0..KILL_ROUNDS {
            members = self.search(members).await;
            killed |= members.alive(self.leader());
            // Sent to a quiet tree as well: it reaches what was forked since the search.
            members.signal(self.leader(), Signal::KILL);
            if self.quiet(&members) {
                break;
            }
            self.pump_until_quiet(&members, KILL_WAIT).await;
        }
        Descendants { killed, left: members.alive(self.leader()) }
    }

    /// Whether anything beside the leader is alive.
    pub(crate) async fn look_for_descendants(&self) -> Descendants {
        Descendants { killed: false, left: self.search(Members::default()).await.alive(self.leader()) }
    }

    /// Whether the leader has ended and no known member lives.
    fn quiet(&self, members: &Members) -> bool {
        self.exit.ended() && !members.alive(self.leader())
    }

    /// Lets data flow while the tree dies, `patience` long at most.
    async fn pump_until_quiet(&mut self, members: &Members, patience: Duration) {
        let begun = Instant::now();
        let mut next_look = begun;
        while !self.quiet(members) && begun.elapsed() < patience {
            next_look += LOOK;
            while Instant::now() < next_look {
                let ended = self.exit.ended();
                tokio::select! {
                    biased;
                    () = self.exit.wait(), if !ended => break,
                    () = sleep_until(next_look) => break,
                    () = self.pump.step() => {}
                }
            }
        }
    }

    async fn search(&self, known: Members) -> Members {
        let leader = Arc::clone(self.leader());
        // Whoever holds the pipes belongs to the tree; but that search is costly, and pointless while the leader
        // itself holds them.
        let pipes = (self.exit.ended() && !self.pump.outputs_finished()).then(|| self.tree.pipes().clone());
        let search = move || tree::scan(&leader, pipes.as_ref(), known);
        // Fails only while the runtime shuts down; then dropping the tree kills it.
        tokio::task::spawn_blocking(search).await.unwrap_or_default()
    }
}
