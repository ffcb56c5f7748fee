//! What the listeners of one life share: the record, how far it was given, and when to stop.
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use harness_agent::{Agent, InboxPolicy};
use harness_session::{AbortCause, Seq, Step};
use tokio_util::sync::CancellationToken;

use crate::abort::{Moment, cancelled};
use crate::life::Life;
use crate::record::{CallRecord, StepRecord};

/// One life under replay.
pub(crate) struct Script {
    pub(crate) life: Life,
    /// Where each event of the recorded surface stands, counted along the surface, all lives together.
    pub(crate) surface: Arc<HashMap<Seq, usize>>,
    /// Context windows by provider and model.
    pub(crate) windows: Arc<HashMap<(String, String), Option<u64>>>,
    pub(crate) agent: OnceLock<Arc<dyn Agent>>,
    /// Set when the record ends in the middle of what the loop does: its process ended here.
    pub(crate) frozen: CancellationToken,
    /// Set when a frozen loop may come to its end, which nobody looks at.
    pub(crate) released: CancellationToken,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Inputs before this position were given.
    given: usize,
    at: Option<Step>,
    attempt: u32,
    fault: Option<(Seq, String)>,
    tally: BTreeMap<String, usize>,
    saving_fails: bool,
}

impl Script {
    pub(crate) fn new(
        life: Life,
        surface: Arc<HashMap<Seq, usize>>,
        windows: Arc<HashMap<(String, String), Option<u64>>>,
    ) -> Self {
        let (frozen, released) = (CancellationToken::new(), CancellationToken::new());
        let (agent, state) = (OnceLock::new(), Mutex::default());
        Self { life, surface, windows, agent, frozen, released, state }
    }
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of the request that is being made.
    pub(crate) fn requesting(&self, at: Step) {
        let mut state = self.state();
        state.attempt = if state.at == Some(at) { state.attempt + 1 } else { 1 };
        state.at = Some(at);
    }
    /// The step and attempt of the newest request.
    pub(crate) fn request(&self) -> Option<(Step, u32)> {
        let state = self.state();
        state.at.map(|at| (at, state.attempt))
    }
    pub(crate) fn step(&self) -> Option<&StepRecord> {
        let at = self.state().at?;
        self.life.step(at.turn, at.step)
    }
    pub(crate) fn call(&self, at: Step, position: u32) -> Option<&CallRecord> {
        self.life.step(at.turn, at.step)?.call(position)
    }

    /// Positions of events that were not given yet and stand before `until`.
    pub(crate) fn due(&self, until: usize) -> std::ops::Range<usize> {
        let mut state = self.state();
        let from = state.given;
        state.given = state.given.max(until);
        from..until.max(from)
    }
    pub(crate) fn given(&self) -> usize {
        self.state().given
    }
    /// Counts something that was taken from the record.
    pub(crate) fn count(&self, what: &str) {
        *self.state().tally.entry(what.to_owned()).or_default() += 1;
    }
    pub(crate) fn tally(&self) -> BTreeMap<String, usize> {
        self.state().tally.clone()
    }
    /// Notes what could not be done; the first one counts.
    pub(crate) fn failed(&self, seq: Seq, text: String) {
        self.state().fault.get_or_insert((seq, text));
    }
    pub(crate) fn fault(&self) -> Option<(Seq, String)> {
        self.state().fault.clone()
    }
    /// From now on one barrier fails.
    pub(crate) fn fail_saving(&self) {
        self.state().saving_fails = true;
    }
    pub(crate) fn saving_fails(&self) -> bool {
        std::mem::take(&mut self.state().saving_fails)
    }

    /// Cancels the turn if that is what happened at this moment.
    pub(crate) fn cancel_at(&self, turn: u32, moment: Moment) -> bool {
        match self.cancelled(turn) {
            Some((when, cause)) if when == moment => {
                if let Some(agent) = self.agent.get() {
                    // What was dropped with it is taken back one by one, as the record says.
                    agent.cancel(cause, InboxPolicy::Keep);
                }
                true
            }
            _ => false,
        }
    }
    pub(crate) fn cancelled(&self, turn: u32) -> Option<(Moment, AbortCause)> {
        cancelled(&self.life, turn)
    }

    /// The process ended here: tells so, and holds until it is over.
    pub(crate) async fn freeze(&self) {
        self.give(self.life.events.len());
        self.frozen.cancel();
        self.released.cancelled().await;
    }
}
