//! Who makes agents: the loop, behind a seam.
use std::sync::Arc;

use async_trait::async_trait;
use harness_kernel::Service;
use harness_session::Session;

use crate::agent::{Agent, AgentOptions};
use crate::error::AgentError;
use crate::events::SessionStartSource;

/// What a new agent is made of.
pub struct CreateAgent {
    /// The session that it drives, live in a scope made for this agent alone. The scope becomes the agent's;
    /// storage is attached to the session before.
    pub session: Arc<Session>,
    /// Settings.
    pub options: AgentOptions,
    /// Why it starts.
    pub source: SessionStartSource,
}

/// Makes agents. Implemented by the loop; swap it to drive agents in another way.
#[async_trait]
pub trait AgentFactory: Send + Sync {
    /// Makes a live agent. Disposing the session's context ends it.
    async fn create(&self, create: CreateAgent) -> Result<Arc<dyn Agent>, AgentError>;
}
impl Service for dyn AgentFactory {
    const NAME: &'static str = "agent-loop";
}
