//! Who makes agents: the loop, behind a seam.
use std::sync::Arc;

use async_trait::async_trait;
use harness_kernel::{Ctx, Service};
use harness_session::{Event, SessionHeader};

use crate::agent::{Agent, AgentOptions};
use crate::error::AgentError;
use crate::events::SessionStartSource;

/// What a new agent is made of.
pub struct CreateAgent {
    /// A context made with [`Ctx::scope`] for this agent alone; it becomes the agent's. Whatever must hear the
    /// session from its first event on is registered here before.
    pub scope: Ctx,
    /// The session's header.
    pub header: SessionHeader,
    /// Events that the session already has: empty for a new one.
    pub seed: Vec<Arc<Event>>,
    /// Settings.
    pub options: AgentOptions,
    /// Why it starts.
    pub source: SessionStartSource,
}

/// Makes agents. Implemented by the loop; swap it to drive agents in another way.
#[async_trait]
pub trait AgentFactory: Send + Sync {
    /// Makes a live agent. On an error nothing of it is left behind.
    async fn create(&self, create: CreateAgent) -> Result<Arc<dyn Agent>, AgentError>;
}
impl Service for dyn AgentFactory {
    const NAME: &'static str = "agent-loop";
}
