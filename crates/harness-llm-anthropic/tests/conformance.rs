//! The scenarios that every adapter must survive, over real sockets.
mod support;

use std::sync::Arc;
use std::time::Duration;

use harness_llm::{CallConfig, LlmAdapter};
use harness_llm_anthropic::{AnthropicRoute, adapter};
use harness_llm_http::RouteConfig;
use harness_llm_http::conformance::{Bench, KEY, Scenario, Script, run};
use support::scenarios::messages;

struct Wire;

impl Bench for Wire {
    fn script(&self, scenario: Scenario) -> Option<Script> {
        messages(scenario)
    }
    fn adapter(&self, base_url: String, patience: Duration) -> (Arc<dyn LlmAdapter>, CallConfig) {
        let route = RouteConfig {
            api_key: Some(KEY.into()),
            first_byte_timeout: patience,
            idle_timeout: patience,
            ..RouteConfig::new("anthropic", base_url, "ANTHROPIC_API_KEY")
        };
        let config = CallConfig { provider: "anthropic".into(), model: "m".into(), ..CallConfig::default() };

        (Arc::new(adapter(AnthropicRoute { route })), config)
    }
}

#[tokio::test]
async fn every_scenario_in_every_framing() {
    run(&Wire).await;
}
