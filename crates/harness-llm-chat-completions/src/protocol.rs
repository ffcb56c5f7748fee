//! The wire format as a protocol of an HTTP route.
use std::sync::Arc;

use bytes::Bytes;
use harness_llm::{CacheRetention, CallConfig, LlmError, Request, RequestOptions};
use harness_llm_http::{Decoder, Protocol, StreamSite};
use reqwest::header::{AUTHORIZATION, HeaderName};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};

use crate::compat::Compat;
use crate::decode::StreamDecoder;
use crate::encode::Encoder;

/// Streaming chat completions as OpenAI defined them, departures as data.
pub struct ChatCompletions {
    encoder: Encoder,
}

impl ChatCompletions {
    /// What is called below a base URL.
    pub const OPERATION: &'static str = "chat/completions";

    /// The format with `compat`.
    pub fn new(compat: Compat) -> Self {
        Self { encoder: Encoder::new(compat) }
    }
}

impl Protocol for ChatCompletions {
    fn operation(&self) -> &'static str {
        Self::OPERATION
    }
    fn credential(&self, key: &SecretString) -> (HeaderName, SecretString) {
        (AUTHORIZATION, format!("Bearer {}", key.expose_secret()).into())
    }
    fn own_fields(&self) -> &'static [&'static str] {
        &["model", "messages", "tools", "stream", "stream_options"]
    }
    fn check(&self, config: &CallConfig) -> Result<(), LlmError> {
        self.encoder.compat().check_effort(config.reasoning_effort.as_deref())
    }
    fn fields(&self, request: &Request) -> Map<String, Value> {
        self.encoder.fields(request)
    }
    fn option_fields(&self, options: &RequestOptions) -> Result<Map<String, Value>, LlmError> {
        let mut fields = Map::new();
        if !options.metadata.is_empty() {
            fields.insert("metadata".into(), json!(options.metadata));
        }
        if let Some(cache) = &options.cache {
            if let Some(key) = &cache.key {
                fields.insert("prompt_cache_key".into(), key.as_str().into());
            }
            if cache.retention == CacheRetention::Long {
                fields.insert("prompt_cache_retention".into(), "24h".into());
            }
        }
        Ok(fields)
    }
    fn encode(&self, request: &Request, extra: &Map<String, Value>) -> Result<Bytes, LlmError> {
        self.encoder.encode_with(request, extra)
    }
    fn decoder(&self, request: Arc<Request>, site: StreamSite) -> Box<dyn Decoder> {
        Box::new(StreamDecoder::new(request, self.encoder.compat()).at(site))
    }
}
