//! The plugin that registers the routes.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_llm::Llm;

use crate::adapter::OpenAi;
use crate::config::OpenAiConfig;

/// Registers one route for each configured provider.
///
/// A route with a bad address or without a key starts all the same and fails when it is used, so that one provider
/// cannot keep the others from working.
#[derive(Debug, Clone, Default)]
pub struct LlmOpenAi {
    /// The routes.
    pub providers: Vec<OpenAiConfig>,
}

impl Plugin for LlmOpenAi {
    type Deps = Arc<Llm>;

    fn name(&self) -> &'static str {
        "llm-openai"
    }

    async fn apply(&self, ctx: Ctx, llm: Self::Deps) -> Result<(), PluginError> {
        for config in &self.providers {
            llm.register(&ctx, config.name.clone(), Arc::new(OpenAi::new(config.clone())))?;
        }
        Ok(())
    }
}
