//! The `agents` service: which agents are live.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use harness_kernel::Service;
use harness_session::SessionId;

use crate::agent::Agent;

/// The service.
#[derive(Default)]
pub struct Agents {
    live: Mutex<BTreeMap<SessionId, Arc<dyn Agent>>>,
}
impl Service for Agents {
    const NAME: &'static str = "agents";
}
impl Agents {
    /// A live agent.
    pub fn get(&self, id: SessionId) -> Option<Arc<dyn Agent>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).get(&id).map(Arc::clone)
    }
    /// All live agents, by creation time.
    pub fn live(&self) -> Vec<Arc<dyn Agent>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }
    /// Registers an agent; for factories.
    pub fn insert(&self, agent: Arc<dyn Agent>) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).insert(agent.id(), agent);
    }
    /// Unregisters an agent; for factories.
    pub fn remove(&self, id: SessionId) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}
