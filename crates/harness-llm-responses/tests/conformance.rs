//! The scenarios that every adapter must survive, over real sockets.
mod support;

use std::sync::Arc;
use std::time::Duration;

use harness_llm::{CallConfig, LlmAdapter};
use harness_llm_http::conformance::{Bench, KEY, Scenario, Script, run};
use harness_llm_http::{HttpAdapter, RouteConfig};
use harness_llm_responses::{Responses, ResponsesCompat};
use support::scenarios::responses;

struct Wire;

impl Bench for Wire {
    fn script(&self, scenario: Scenario) -> Option<Script> {
        responses(scenario)
    }
    fn adapter(&self, base_url: String, patience: Duration) -> (Arc<dyn LlmAdapter>, CallConfig) {
        let route = RouteConfig {
            api_key: Some(KEY.into()),
            first_byte_timeout: patience,
            idle_timeout: patience,
            ..RouteConfig::new("openai", base_url, "OPENAI_API_KEY")
        };
        let config = CallConfig { provider: "openai".into(), model: "m".into(), ..CallConfig::default() };
        let protocol = Arc::new(Responses::new(ResponsesCompat::default()));
        (Arc::new(HttpAdapter::new(route, protocol)), config)
    }
}

#[tokio::test]
async fn every_scenario_in_every_framing() {
    run(&Wire).await;
}
