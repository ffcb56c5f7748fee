//! What one route needs to know, whatever its wire format.
use std::collections::BTreeMap;
use std::time::Duration;

use harness_http::HttpConfig;
use harness_llm::ModelInfo;
use secrecy::SecretString;
use serde_json::{Map, Value};

/// One provider route.
#[derive(Debug, Clone)]
pub struct RouteConfig {
    /// Name of the route, by which requests choose it.
    pub name: String,
    /// Where the server is; see [`Endpoint`](crate::Endpoint) for what is made of it.
    pub base_url: String,
    /// The key. A server on this machine needs none.
    pub api_key: Option<SecretString>,
    /// The environment variable in which the key is looked for, named in errors. The app does the looking.
    pub api_key_env: String,
    /// From a request until the first byte of the answer.
    pub first_byte_timeout: Duration,
    /// Silence in the middle of an answer.
    pub idle_timeout: Duration,
    /// Models that the route lists. Others work as well.
    pub models: Vec<ModelInfo>,
    /// Headers to add to each request. Not for credentials: these values are not kept out of messages.
    pub headers: BTreeMap<String, String>,
    /// Fields to add to each request body, for what only this server knows.
    pub extra_body: Map<String, Value>,
    /// TLS, proxy and connect timeout.
    pub http: HttpConfig,
}

impl RouteConfig {
    /// A route without key, with the usual deadlines (five minutes each).
    pub fn new(name: impl Into<String>, base_url: impl Into<String>, api_key_env: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base_url: base_url.into(),
            api_key: None,
            api_key_env: api_key_env.into(),
            first_byte_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(5),
            models: Vec::new(),
            headers: BTreeMap::new(),
            extra_body: Map::new(),
            http: HttpConfig::default(),
        }
    }
}
