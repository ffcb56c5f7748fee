//! The wire format as a protocol of an HTTP route.
use std::sync::Arc;

use bytes::Bytes;
use harness_llm::{CacheRetention, CallConfig, FailureCode, LlmError, Request, RequestOptions};
use harness_llm_http::{Decoder, Protocol, StreamSite};
use reqwest::header::{AUTHORIZATION, HeaderName};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};

use crate::decode::StreamDecoder;
use crate::encode::Encoder;

/// The effort words of the format, and `off` for `none`.
const EFFORTS: [&str; 8] = ["off", "none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// What to do differently for one endpoint. The default is OpenAI's own form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponsesCompat {
    /// Ask for reasoning in encrypted form, so that it can go back to the model. Switch off for servers that refuse
    /// `include`.
    pub encrypted_reasoning: bool,
}

impl Default for ResponsesCompat {
    fn default() -> Self {
        Self { encrypted_reasoning: true }
    }
}

/// OpenAI's responses, nothing kept on the server.
pub struct Responses {
    encoder: Encoder,
}

impl Responses {
    /// The format with `compat`.
    pub fn new(compat: ResponsesCompat) -> Self {
        Self { encoder: Encoder::new(compat) }
    }
}

impl Protocol for Responses {
    fn operation(&self) -> &'static str {
        "responses"
    }
    fn credential(&self, key: &SecretString) -> (HeaderName, SecretString) {
        (AUTHORIZATION, format!("Bearer {}", key.expose_secret()).into())
    }
    fn own_fields(&self) -> &'static [&'static str] {
        &["model", "instructions", "input", "tools", "stream", "store", "include", "previous_response_id"]
    }
    fn check(&self, config: &CallConfig) -> Result<(), LlmError> {
        let refused = |text: String| Err(LlmError::new(FailureCode::INVALID_REQUEST, text));
        if !config.stop.is_empty() {
            return refused(
                "the responses format has no stop texts; leave them out or use chat completions".into(),
            );
        }
        match config.reasoning_effort.as_deref() {
            Some(effort) if !EFFORTS.contains(&effort) => refused(format!(
                "reasoning effort `{effort}` is not known; use one of {}",
                EFFORTS.join(", ")
            )),
            _ => Ok(()),
        }
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
        Box::new(StreamDecoder::new(request).at(site))
    }
}
