//! The plugin that publishes the `agents` service.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};

use crate::registry::Agents;

/// Provides [`Agents`].
#[derive(Debug, Default)]
pub struct AgentPlugin;
impl Plugin for AgentPlugin {
    type Deps = ();
    fn name(&self) -> &'static str {
        "agent"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<Agents>(Arc::new(Agents::default()))?;
        Ok(())
    }
}
