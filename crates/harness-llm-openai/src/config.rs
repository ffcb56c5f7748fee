//! What one route needs to know.
use std::collections::BTreeMap;
use std::time::Duration;

use harness_http::HttpConfig;
use harness_llm::ModelInfo;
use harness_llm_chat_completions::Compat;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::seconds;

/// One provider route. The default is OpenAI's own service without a key.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenAiConfig {
    /// Name of the route, by which requests choose it.
    pub name: String,
    /// Where the server is; see [`Endpoint`](harness_llm_chat_completions::Endpoint) for what is made of it.
    pub base_url: String,
    /// The key. A server on this machine needs none.
    #[schemars(with = "Option<String>")]
    pub api_key: Option<SecretString>,
    /// The environment variable in which the key is looked for, named in errors. The app does the looking.
    pub api_key_env: String,
    /// How the server departs from the common form.
    pub compat: Compat,
    /// Seconds from a request until the first byte of the answer.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub first_byte_timeout: Duration,
    /// Seconds of silence in the middle of an answer.
    #[serde(with = "seconds")]
    #[schemars(with = "f64")]
    pub idle_timeout: Duration,
    /// Models that the route lists. Others work as well.
    pub models: Vec<ModelEntry>,
    /// Headers to add to each request. Not for credentials: these values are not kept out of messages.
    pub headers: BTreeMap<String, String>,
    /// Fields to add to each request body, for what only this server knows.
    pub extra_body: Map<String, Value>,
    /// TLS, proxy and connect timeout. Comes from the app, which has one such setting for all routes.
    #[serde(skip)]
    pub http: HttpConfig,
}

impl Default for OpenAiConfig {
    fn default() -> Self {
        Self {
            name: "openai".into(),
            base_url: "https://api.openai.com/v1".into(),
            api_key: None,
            api_key_env: "OPENAI_API_KEY".into(),
            compat: Compat::default(),
            first_byte_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(5),
            models: Vec::new(),
            headers: BTreeMap::new(),
            extra_body: Map::new(),
            http: HttpConfig::default(),
        }
    }
}

/// What is known of one model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelEntry {
    /// Model name.
    pub model: String,
    /// Context window in tokens.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// Most answer tokens.
    #[serde(default)]
    pub max_output: Option<u64>,
}

impl From<&ModelEntry> for ModelInfo {
    fn from(entry: &ModelEntry) -> Self {
        let ModelEntry { model, context_window, max_output } = entry.clone();
        Self { model, context_window, max_output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_form_is_read_strictly() {
        let config: OpenAiConfig = serde_json::from_value(serde_json::json!({
            "name": "local",
            "base_url": "http://127.0.0.1:8080",
            "api_key": "sk-hush",
            "compat": {"reasoning_replay": "always"},
            "idle_timeout": 1.5,
            "models": [{"model": "m", "context_window": 8192}],
        }))
        .unwrap();
        assert_eq!(config.idle_timeout, Duration::from_millis(1500));
        assert_eq!(ModelInfo::from(&config.models[0]).context_window, Some(8192));
        assert!(!format!("{config:?}").contains("hush"));

        for bad in [
            r#"{"base_ulr":"x"}"#,
            r#"{"idle_timeout":-1}"#,
            r#"{"idle_timeout":0}"#,
            r#"{"compat":{"x":1}}"#,
        ] {
            assert!(serde_json::from_str::<OpenAiConfig>(bad).is_err(), "{bad}");
        }
    }
}
