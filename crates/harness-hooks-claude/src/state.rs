//! What is remembered of one agent.
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harness_hooks::Outcome;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::transcript::Transcript;

/// State of one agent's hooks; it lives in the agent's scope.
#[derive(Debug, Default)]
pub(crate) struct AgentHooks {
    facts: Mutex<Facts>,
    /// Cancelled when the agent ends: hooks in the background die with it.
    pub(crate) ended: CancellationToken,
    /// Hooks in the background.
    pub(crate) background: TaskTracker,
    /// Hooks that only tell somebody something; the end waits for them a little.
    pub(crate) telling: TaskTracker,
}

#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The project's folder, found once.
    pub(crate) project: Option<PathBuf>,
    /// The session as a file, once a hook has run.
    pub(crate) transcript: Option<Transcript>,
    /// What the hooks before a call came to, until the call is judged.
    pub(crate) judged: HashMap<String, Arc<Outcome>>,
    /// The turn that stop hooks keep going, and how often they have.
    pub(crate) kept_going: Option<(u32, u32)>,
    /// The prompt that the turn is about.
    pub(crate) prompt: Option<String>,
}

impl AgentHooks {
    pub(crate) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
