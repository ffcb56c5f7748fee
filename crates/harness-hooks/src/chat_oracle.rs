//! Oracles over an OpenAI-compatible endpoint, for programs that have no model service of their own.
use async_trait::async_trait;
use futures_util::StreamExt as _;
use harness_http::{HttpConfig, HttpError, TransportError};
use reqwest::Client;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::codec::clip;
use crate::models::{Oracle, Question};

/// Most bytes that are read of an answer.
const CAP: usize = 1024 * 1024;

/// Asks `POST {base_url}/chat/completions`, one user message at temperature 0.
#[derive(Debug, Clone)]
pub struct ChatOracle {
    client: Client,
    base_url: String,
    model: String,
    key: Option<String>,
}

impl ChatOracle {
    /// An oracle for an endpoint such as `http://127.0.0.1:8765/v1`.
    ///
    /// # Errors
    /// If no HTTP client can be made.
    pub fn new(
        http: &HttpConfig,
        base_url: &str,
        model: impl Into<String>,
        key: Option<String>,
    ) -> Result<Self, HttpError> {
        let base_url = base_url.trim_end_matches('/').to_owned();
        Ok(Self { client: harness_http::client(http)?, base_url, model: model.into(), key })
    }
}

#[async_trait]
impl Oracle for ChatOracle {
    async fn ask(&self, question: Question, _: CancellationToken) -> Result<String, String> {
        let body = json!({
            "model": question.model.as_ref().unwrap_or(&self.model),
            "messages": [{ "role": "user", "content": question.prompt }],
            "temperature": 0,
        });
        let mut request = self.client.post(format!("{}/chat/completions", self.base_url)).json(&body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let failed = |error: reqwest::Error| TransportError::from(error).to_string();
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let (mut bytes, mut stream) = (Vec::new(), response.bytes_stream());
        while let Some(chunk) = stream.next().await {
            bytes.extend_from_slice(&chunk.map_err(failed)?);
            if bytes.len() > CAP {
                return Err(format!("the endpoint's answer has more than {CAP} bytes"));
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if !status.is_success() {
            return Err(format!("status {}: {}", status.as_u16(), clip(text.trim())));
        }
        let answer: Value = serde_json::from_str(&text)
            .map_err(|error| format!("the endpoint's answer is not JSON ({error}): {}", clip(text.trim())))?;
        let content = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
        content.map(str::to_owned).ok_or_else(|| "the endpoint's answer has no message".to_owned())
    }
}
