//! The plugin that registers the routes.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_llm::Llm;
use harness_llm_chat_completions::{ChatCompletions, Compat, MaxTokensField};
use harness_llm_http::{Endpoint, HttpAdapter, Protocol, RouteConfig};
use harness_llm_responses::{Responses, ResponsesCompat};

/// Which of OpenAI's two wire formats a route speaks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum WireFormat {
    /// Chat completions, which most compatible servers speak, with what this one does differently.
    ChatCompletions(Compat),
    /// Responses, likewise.
    Responses(ResponsesCompat),
}

/// One provider route.
#[derive(Debug, Clone)]
pub struct OpenAiRoute {
    /// Address, key, deadlines.
    pub route: RouteConfig,
    /// What is spoken there.
    pub format: WireFormat,
}

impl OpenAiRoute {
    /// A route that speaks chat completions in the common form.
    pub fn new(route: RouteConfig) -> Self {
        Self { route, format: WireFormat::ChatCompletions(Compat::default()) }
    }
}

impl Default for OpenAiRoute {
    /// OpenAI's own service, without a key.
    fn default() -> Self {
        Self::new(RouteConfig::new("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"))
    }
}

/// The adapter of a route. Nothing is looked up or opened; what is wrong with the settings shows at each call.
pub fn adapter(route: OpenAiRoute) -> HttpAdapter {
    let OpenAiRoute { route, format } = route;
    let protocol: Arc<dyn Protocol> = match format {
        WireFormat::ChatCompletions(mut compat) => {
            if let (None, Ok(endpoint)) =
                (compat.max_tokens_field, Endpoint::parse(&route.base_url, ChatCompletions::OPERATION))
            {
                compat.max_tokens_field = Some(MaxTokensField::for_host(endpoint.host()));
            }
            Arc::new(ChatCompletions::new(compat))
        }
        WireFormat::Responses(compat) => Arc::new(Responses::new(compat)),
    };
    HttpAdapter::new(route, protocol)
}

/// Registers one route for each configured provider.
///
/// A route with a bad address or without a key starts all the same and fails when it is used, so that one provider
/// cannot keep the others from working.
#[derive(Debug, Clone, Default)]
pub struct LlmOpenAi {
    /// The routes.
    pub providers: Vec<OpenAiRoute>,
}

impl Plugin for LlmOpenAi {
    type Deps = Arc<Llm>;

    fn name(&self) -> &'static str {
        "llm-openai"
    }

    async fn apply(&self, ctx: Ctx, llm: Self::Deps) -> Result<(), PluginError> {
        for route in &self.providers {
            llm.register(&ctx, route.route.name.clone(), Arc::new(adapter(route.clone())))?;
        }
        Ok(())
    }
}
