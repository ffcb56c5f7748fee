//! The plugin that publishes the `llm` service.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};

use crate::runtime::Llm;

/// Provides [`Llm`]; adapters register their routes on it.
#[derive(Debug, Default)]
pub struct LlmPlugin;

impl Plugin for LlmPlugin {
    type Deps = ();
    fn name(&self) -> &'static str {
        "llm"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<Llm>(Arc::new(Llm::default()))?;
        Ok(())
    }
}
