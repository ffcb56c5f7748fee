//! The plugin that provides the loop as the agent factory.
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use harness_agent::{
    Agent, AgentCreated, AgentDisposed, AgentError, AgentFactory, Agents, Control, CreateAgent,
};
use harness_kernel::{Ctx, Plugin, PluginError};
use harness_llm::Llm;
use harness_system_prompt::SystemPrompt;
use harness_tools::Tools;

use crate::agent::{LoopAgent, Services};
use crate::driver::drive;

/// Provides [`AgentFactory`]: agents that ask a model, run its tools, and go on until nothing is owed.
#[derive(Debug, Default)]
pub struct AgentLoop;

impl Plugin for AgentLoop {
    type Deps = (Arc<Agents>, Arc<Llm>, Arc<Tools>, Arc<SystemPrompt>);
    fn name(&self) -> &'static str {
        "agent-loop"
    }
    async fn apply(&self, ctx: Ctx, (agents, llm, tools, prompt): Self::Deps) -> Result<(), PluginError> {
        let services = Services { llm, tools, prompt };
        ctx.provide::<dyn AgentFactory>(Arc::new(Factory { agents, services }))?;
        Ok(())
    }
}

struct Factory {
    agents: Arc<Agents>,
    services: Services,
}

#[async_trait]
impl AgentFactory for Factory {
    async fn create(&self, create: CreateAgent) -> Result<Arc<dyn Agent>, AgentError> {
        let CreateAgent { session, options, source } = create;
        let scope = session.ctx().clone();
        let agent = Arc::new(LoopAgent {
            control: Control::new(Arc::clone(&session)),
            ctx: scope.clone(),
            session,
            services: self.services.clone(),
            options: Mutex::new(options),
            driver: OnceLock::new(),
            join: Mutex::new(None),
        });
        let (id, shared) = (agent.id(), agent.shared());
        self.agents.insert(Arc::clone(&shared));
        let join = tokio::spawn(drive(Arc::clone(&agent), source));
        // Set before anything can wake the driver: nobody else holds the agent yet.
        let _ = agent.driver.set(join.id());
        *agent.join.lock().unwrap_or_else(PoisonError::into_inner) = Some(join);
        let agents = Arc::clone(&self.agents);
        let emitter = scope.clone();
        scope.on_dispose(move || async move {
            agent.stop().await;
            agents.remove(id);
            emitter.emit(&AgentDisposed { agent: id });
        });
        scope.emit(&AgentCreated { agent: Arc::clone(&shared) });
        Ok(shared)
    }
}
