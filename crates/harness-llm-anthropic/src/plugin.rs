//! The plugin that registers the routes.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_llm::Llm;
use harness_llm_http::{HttpAdapter, RouteConfig};

use crate::protocol::Messages;

/// One route to the service, or to a server that speaks its format.
#[derive(Debug, Clone)]
pub struct AnthropicRoute {
    /// Address, key, deadlines, known models.
    pub route: RouteConfig,
}

impl Default for AnthropicRoute {
    /// The service itself, without a key.
    fn default() -> Self {
        Self { route: RouteConfig::new("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY") }
    }
}

/// The adapter of a route. Nothing is looked up or opened; what is wrong with the settings shows at each call.
pub fn adapter(route: AnthropicRoute) -> HttpAdapter {
    let protocol = Messages::new(route.route.models.clone());
    HttpAdapter::new(route.route, Arc::new(protocol))
}

/// Registers the routes. One with a bad address or without a key starts all the same and fails when it is used.
#[derive(Debug, Clone, Default)]
pub struct LlmAnthropic {
    /// The routes.
    pub providers: Vec<AnthropicRoute>,
}

impl Plugin for LlmAnthropic {
    type Deps = Arc<Llm>;

    fn name(&self) -> &'static str {
        "llm-anthropic"
    }

    async fn apply(&self, ctx: Ctx, llm: Self::Deps) -> Result<(), PluginError> {
        for route in &self.providers {
            llm.register(&ctx, route.route.name.clone(), Arc::new(adapter(route.clone())))?;
        }
        Ok(())
    }
}
