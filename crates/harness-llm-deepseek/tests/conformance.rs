//! The scenarios that every adapter must survive, over real sockets.
use std::sync::Arc;
use std::time::Duration;

use harness_llm::{CallConfig, LlmAdapter};
use harness_llm_chat_completions::chat_completions;
use harness_llm_deepseek::{DeepSeekRoute, adapter};
use harness_llm_http::RouteConfig;
use harness_llm_http::conformance::{Bench, KEY, Scenario, Script, run};

struct Chat;

impl Bench for Chat {
    fn script(&self, scenario: Scenario) -> Option<Script> {
        chat_completions(scenario)
    }
    fn adapter(&self, base_url: String, patience: Duration) -> (Arc<dyn LlmAdapter>, CallConfig) {
        let route = RouteConfig {
            api_key: Some(KEY.into()),
            first_byte_timeout: patience,
            idle_timeout: patience,
            ..RouteConfig::new("deepseek", base_url, "DEEPSEEK_API_KEY")
        };
        let model = "deepseek-v4-flash".to_owned();
        let config = CallConfig { provider: "deepseek".into(), model, ..CallConfig::default() };
        (Arc::new(adapter(DeepSeekRoute { route, compat: None })), config)
    }
}

#[tokio::test]
async fn every_scenario_in_every_framing() {
    run(&Chat).await;
}
