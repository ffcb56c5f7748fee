//! Requests to bodies.
mod block;
mod history;

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use harness_llm::{CallConfig, FailureCode, LlmError, ModelInfo, Request, ToolSpec};
use harness_llm_http::{Fragments, append_fields};
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::history::History;
use crate::rules::rule_of;
use crate::thinking::{self, ThinkingFields};

/// A step adds this much at most, most of the time, so that the body is allocated once.
const ROOM_TO_GROW: usize = 16 * 1024;
/// Most answer tokens of a model that nothing is known of; the format demands a number.
const MAX_TOKENS: u64 = 8_192;

/// Writes request bodies for one endpoint.
///
/// The blocks of one request's history are, byte for byte, the start of the next one's. The prompt cache is asked for
/// with two markers that never move in the bytes: one at the system prompt, and one at the top of the body, which the
/// service sets to the last block itself.
pub struct Encoder {
    models: Vec<ModelInfo>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    /// The route and model that the fragments are written for: thinking goes back to the one that made it only.
    target: (String, String),
    history: History,
    tools: Fragments<[ToolSpec]>,
    /// Length of the last body.
    last_length: usize,
}

/// The part of a body that follows the tools.
#[derive(Serialize)]
struct Tail<'a> {
    #[serde(flatten)]
    thinking: ThinkingFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [String],
    stream: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct SystemBlock<'a> {
    r#type: &'static str,
    text: &'a str,
    cache_control: &'a Value,
}

impl Encoder {
    /// An encoder with nothing kept yet. `models` say how long an answer may be where a request leaves it open.
    pub fn new(models: Vec<ModelInfo>) -> Self {
        Self { models, cache: Mutex::default() }
    }

    /// Looks for what the model does not take.
    ///
    /// # Errors
    /// [`FailureCode::INVALID_REQUEST`] with what is wrong.
    pub fn check(&self, config: &CallConfig) -> Result<(), LlmError> {
        self.tail(config).map(|_| ())
    }

    /// The body of `request`, with fields of the provider's own at its end. The same request gives the same bytes.
    ///
    /// # Errors
    /// As [`check`](Self::check), and for a value without a JSON form.
    pub fn encode_with(&self, request: &Request, extra: &Map<String, Value>) -> Result<Bytes, LlmError> {
        let tail = self.tail(&request.config)?;
        // A panic inside leaves no half-written fragment: entries are inserted whole.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let target = (request.config.provider.clone(), request.config.model.clone());
        if cache.target != target {
            *cache = Cache { target, ..Cache::default() };
        }
        let mut body = Vec::with_capacity(cache.last_length + ROOM_TO_GROW);
        self.write(request, &tail, extra, &mut cache, &mut body).map_err(|error| {
            let text = format!("the request cannot be written as JSON: {error}");
            LlmError::new(FailureCode::INVALID_REQUEST, text)
        })?;
        cache.last_length = body.len();
        Ok(body.into())
    }

    /// The fields of the body of `request` outside system prompt, messages and tools.
    pub fn fields(&self, request: &Request) -> Map<String, Value> {
        let config = &request.config;
        let mut fields = Map::from_iter([
            ("model".to_owned(), config.model.clone().into()),
            ("max_tokens".to_owned(), self.max_tokens(config).into()),
        ]);
        let tail = self.tail(config).ok().and_then(|tail| serde_json::to_value(tail).ok());
        if let Some(Value::Object(tail)) = tail {
            fields.extend(tail);
        }
        fields
    }

    fn write(
        &self,
        request: &Request,
        tail: &Tail<'_>,
        extra: &Map<String, Value>,
        cache: &mut Cache,
        body: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        body.extend_from_slice(b"{\"model\":");
        serde_json::to_writer(&mut *body, &request.config.model)?;
        body.extend_from_slice(b",\"max_tokens\":");
        serde_json::to_writer(&mut *body, &self.max_tokens(&request.config))?;
        let marker = json!({ "type": "ephemeral" });
        let marker = extra.get("cache_control").unwrap_or(&marker);
        if let Some(system) = request.system.as_deref().filter(|system| !system.trim().is_empty()) {
            body.extend_from_slice(b",\"system\":");
            let block = SystemBlock { r#type: "text", text: system, cache_control: marker };
            serde_json::to_writer(&mut *body, &[block])?;
        }
        body.extend_from_slice(b",\"messages\":[");
        cache.history.write(request, body)?;
        body.push(b']');
        if !request.tools.is_empty() {
            cache.tools.append(&request.tools, body, write_tools)?;
        }
        append_fields(tail, body)?;
        if !extra.contains_key("cache_control") {
            append_fields(&json!({ "cache_control": marker }), body)?;
        }
        if !extra.is_empty() {
            append_fields(extra, body)?;
        }
        body.push(b'}');
        Ok(())
    }

    fn max_tokens(&self, config: &CallConfig) -> u64 {
        let known =
            self.models.iter().find(|info| info.model == config.model).and_then(|info| info.max_output);
        config.max_tokens.or(known).unwrap_or(MAX_TOKENS)
    }

    fn tail<'a>(&self, config: &'a CallConfig) -> Result<Tail<'a>, LlmError> {
        Ok(Tail {
            thinking: thinking::fields(config, rule_of(&config.model), self.max_tokens(config))?,
            temperature: config.temperature,
            stop_sequences: &config.stop,
            stream: true,
        })
    }
}

fn write_tools(tools: &[ToolSpec], out: &mut Vec<u8>) -> serde_json::Result<()> {
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| WireTool {
            name: &tool.name,
            description: &tool.description,
            input_schema: &tool.parameters,
        })
        .collect();
    out.extend_from_slice(b",\"tools\":");
    serde_json::to_writer(out, &tools)
}
