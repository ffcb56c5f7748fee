//! The plugin that registers the routes.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_llm::Llm;
use harness_llm_chat_completions::Compat;
use harness_llm_http::{HttpAdapter, RouteConfig};

use crate::protocol::DeepSeek;

/// One route to the service, or to a server that behaves like it.
#[derive(Debug, Clone)]
pub struct DeepSeekRoute {
    /// Address, key, deadlines.
    pub route: RouteConfig,
    /// In place of the built-in rules of all models.
    pub compat: Option<Compat>,
}

impl Default for DeepSeekRoute {
    /// The service itself, without a key.
    fn default() -> Self {
        let route = RouteConfig::new("deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY");
        Self { route, compat: None }
    }
}

/// The adapter of a route. Nothing is looked up or opened; what is wrong with the settings shows at each call.
pub fn adapter(route: DeepSeekRoute) -> HttpAdapter {
    HttpAdapter::new(route.route, Arc::new(DeepSeek::new(route.compat)))
}

/// Registers the routes. One with a bad address or without a key starts all the same and fails when it is used.
#[derive(Debug, Clone, Default)]
pub struct LlmDeepSeek {
    /// The routes.
    pub providers: Vec<DeepSeekRoute>,
}

impl Plugin for LlmDeepSeek {
    type Deps = Arc<Llm>;

    fn name(&self) -> &'static str {
        "llm-deepseek"
    }

    async fn apply(&self, ctx: Ctx, llm: Self::Deps) -> Result<(), PluginError> {
        for route in &self.providers {
            llm.register(&ctx, route.route.name.clone(), Arc::new(adapter(route.clone())))?;
        }
        Ok(())
    }
}
