//! All live runs of this process, so that a shutdown can end them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::leader::Leader;
use crate::tree;

/// Time beyond the grace period after which a run that nobody drives is killed directly.
const PATIENCE: Duration = Duration::from_secs(2);

static LIVE: Mutex<Registry> = Mutex::new(Registry { next: 0, runs: BTreeMap::new() });

struct Registry {
    next: u64,
    runs: BTreeMap<u64, Run>,
}

#[derive(Clone)]
struct Run {
    stop: CancellationToken,
    done: CancellationToken,
    grace: Duration,
    leader: Option<Arc<Leader>>,
}

fn live() -> MutexGuard<'static, Registry> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends every live run of this process, from any task, and returns when all are gone: SIGTERM, each run's grace,
/// SIGKILL. Returns how many there were. For the shutdown of a program; runs started meanwhile are not included.
///
/// A run whose future is not being polled is killed without grace two seconds after the longest grace.
pub async fn kill_all() -> usize {
    let runs: Vec<(u64, Run)> = live().runs.iter().map(|(id, run)| (*id, run.clone())).collect();
    let grace = runs.iter().map(|(_, run)| run.grace).max().unwrap_or_default();
    for (_, run) in &runs {
        run.stop.cancel();
    }
    let deadline = Instant::now() + grace.min(Duration::from_hours(1)) + PATIENCE;
    for (id, run) in &runs {
        if tokio::time::timeout_at(deadline, run.done.cancelled()).await.is_ok() {
            continue;
        }
        let leader = live().runs.get(id).and_then(|run| run.leader.clone());
        let Some(leader) = leader else { continue };
        tree::kill_now(&leader, &tree::PipeIds::default());
        let deadline = Instant::now() + PATIENCE;
        while !leader.ended() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if !leader.ended() {
            tracing::warn!(pid = ?leader.pid(), "a process does not end after SIGKILL");
        }
    }
    runs.len()
}

/// Number of runs that have not ended.
pub fn live_count() -> usize {
    live().runs.len()
}

/// A run's entry; it lasts from before the start until everything is cleaned up.
pub(crate) struct Registration {
    id: u64,
    stop: CancellationToken,
}

impl Registration {
    pub(crate) fn new(grace: Duration) -> Self {
        let stop = CancellationToken::new();
        let mut registry = live();
        let id = registry.next;
        registry.next += 1;
        let run = Run { stop: stop.clone(), done: CancellationToken::new(), grace, leader: None };
        registry.runs.insert(id, run);
        Self { id, stop }
    }

    pub(crate) fn attach(&self, leader: &Arc<Leader>) {
        if let Some(run) = live().runs.get_mut(&self.id) {
            run.leader = Some(Arc::clone(leader));
        }
    }

    /// Cancelled by [`kill_all`].
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.stop
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let run = live().runs.remove(&self.id);
        if let Some(run) = run {
            run.done.cancel();
        }
    }
}
