//! The wire format as a protocol of an HTTP route.
use std::sync::Arc;

use bytes::Bytes;
use harness_llm::{CacheRetention, CallConfig, FailureCode, LlmError, ModelInfo, Request, RequestOptions};
use harness_llm_http::{Decoder, Protocol, StreamSite};
use reqwest::header::HeaderName;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use crate::decode::StreamDecoder;
use crate::encode::Encoder;

/// The version of the format, which each request names.
const VERSION: &str = "2023-06-01";

/// Anthropic's Messages API.
pub struct Messages {
    encoder: Encoder,
}

impl Messages {
    /// The format. `models` say how long an answer may be where a request leaves it open.
    pub fn new(models: Vec<ModelInfo>) -> Self {
        Self { encoder: Encoder::new(models) }
    }
}

impl Protocol for Messages {
    fn operation(&self) -> &'static str {
        "messages"
    }
    fn credential(&self, key: &SecretString) -> (HeaderName, SecretString) {
        (HeaderName::from_static("x-api-key"), key.clone())
    }
    fn headers(&self) -> &[(&'static str, &'static str)] {
        &[("anthropic-version", VERSION)]
    }
    fn own_fields(&self) -> &'static [&'static str] {
        &["model", "max_tokens", "system", "messages", "tools", "stream"]
    }
    fn check(&self, config: &CallConfig) -> Result<(), LlmError> {
        self.encoder.check(config)
    }
    fn fields(&self, request: &Request) -> Map<String, Value> {
        self.encoder.fields(request)
    }
    fn option_fields(&self, options: &RequestOptions) -> Result<Map<String, Value>, LlmError> {
        let mut fields = Map::new();
        if let Some(name) = options.metadata.keys().find(|name| *name != "user_id") {
            let text = format!("the messages format carries the metadata `user_id` alone, not `{name}`");
            return Err(LlmError::new(FailureCode::INVALID_REQUEST, text));
        }
        if !options.metadata.is_empty() {
            fields.insert("metadata".into(), json!(options.metadata));
        }
        // A key has no counterpart: the service finds its cache by the prefix.
        if options.cache.as_ref().is_some_and(|cache| cache.retention == CacheRetention::Long) {
            fields.insert("cache_control".into(), json!({ "type": "ephemeral", "ttl": "1h" }));
        }
        Ok(fields)
    }
    fn encode(&self, request: &Request, extra: &Map<String, Value>) -> Result<Bytes, LlmError> {
        self.encoder.encode_with(request, extra)
    }
    fn decoder(&self, request: Arc<Request>, site: StreamSite) -> Box<dyn Decoder> {
        Box::new(StreamDecoder::new(request).at(site))
    }
}
