//! The plugin.
use std::sync::{Arc, Mutex, PoisonError};

use harness_agent::{AgentCreated, Agents};
use harness_hooks::{Engine, Profile};
use harness_kernel::{Ctx, Lazy, Plugin, PluginError};
use harness_llm::Llm;
use harness_session::{EventTypeInfo, Sessions};

use crate::bridge::Bridge;
use crate::listen;
use crate::log::{HookInvoked, HookResult};
use crate::oracle::ModelOracle;
use crate::settings::HooksConfig;

/// Runs Claude Code hooks around turns and tool calls.
#[derive(Debug)]
pub struct HooksClaude {
    /// Settings and surroundings.
    pub config: HooksConfig,
}

impl Plugin for HooksClaude {
    type Deps = (Arc<Sessions>, Arc<Agents>, Lazy<Llm>);
    fn name(&self) -> &'static str {
        "hooks-claude"
    }
    async fn apply(&self, ctx: Ctx, (sessions, agents, llm): Self::Deps) -> Result<(), PluginError> {
        sessions.register_event_type(&ctx, EventTypeInfo::of::<HookInvoked>())?;
        sessions.register_event_type(&ctx, EventTypeInfo::of::<HookResult>())?;
        let settings = &self.config.settings;
        if !settings.enabled {
            return Ok(());
        }
        let route = Arc::new(Mutex::new(None));
        let newest = Arc::clone(&route);
        ctx.on::<AgentCreated>(move |created| {
            *newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(created.agent.options().config);
        });
        let mut engine = Engine::new(Profile::Claude);
        engine.on_error = settings.on_error;
        engine.reading.invalid_decision = settings.invalid_decision;
        engine.http = self.config.http.clone();
        engine.oracle = Some(Arc::new(ModelOracle { ctx: ctx.clone(), llm, route }));
        let bridge = Arc::new(Bridge::new(self.config.clone(), engine));
        listen::all(&ctx, &bridge, &agents);
        Ok(())
    }
}
