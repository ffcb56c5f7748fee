//! Requests to bodies.
mod effort;
mod message;

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use harness_llm::{FailureCode, LlmError, Message, Request, ToolSpec};
use harness_llm_http::{Fragments, append_fields};
use serde::Serialize;
use serde_json::{Map, Value};

use self::effort::EffortFields;
use self::message::WireMessage;
use crate::compat::{Compat, MaxTokensField};

/// A step adds this much at most, most of the time, so that the body is allocated once.
const ROOM_TO_GROW: usize = 16 * 1024;

/// Writes request bodies for one endpoint.
///
/// The `messages` array is the concatenation of one fragment for each message, and a fragment depends on its
/// message and the compatibility settings alone: the history of one request is, byte for byte, the start of the
/// next one's. Fragments, system prompts and tool lists are kept for as long as the values that they come from
/// are in use, so that a long session is not written anew at each step.
pub struct Encoder {
    compat: Compat,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    systems: Fragments<str>,
    messages: Fragments<Message>,
    tools: Fragments<[ToolSpec]>,
    /// Length of the last body.
    last_length: usize,
}

/// The part of a body that follows the model, the messages and the tools.
#[derive(Serialize)]
struct Tail<'a> {
    #[serde(flatten)]
    effort: EffortFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: &'a ToolSpec,
}

impl Encoder {
    /// An encoder with nothing kept yet.
    pub fn new(compat: Compat) -> Self {
        Self { compat, cache: Mutex::default() }
    }

    /// The settings that bodies are written with.
    pub fn compat(&self) -> &Compat {
        &self.compat
    }

    /// The body of `request`. The same request gives the same bytes.
    ///
    /// # Errors
    /// [`FailureCode::INVALID_REQUEST`] for a value without a JSON form.
    pub fn encode(&self, request: &Request) -> Result<Bytes, LlmError> {
        self.encode_with(request, &Map::new())
    }

    /// As [`encode`](Self::encode), with fields of the provider's own at the end of the body.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_with(&self, request: &Request, extra: &Map<String, Value>) -> Result<Bytes, LlmError> {
        // A panic inside leaves no half-written fragment: entries are inserted whole.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut body = Vec::with_capacity(cache.last_length + ROOM_TO_GROW);
        self.write(request, extra, &mut cache, &mut body).map_err(|error| {
            let text = format!("the request cannot be written as JSON: {error}");
            LlmError::new(FailureCode::INVALID_REQUEST, text)
        })?;
        cache.last_length = body.len();
        Ok(body.into())
    }

    /// The fields of the body of `request` outside system prompt, messages and tools.
    pub fn fields(&self, request: &Request) -> Map<String, Value> {
        let tail = serde_json::to_value(self.tail(request));
        let mut fields = Map::from_iter([("model".to_owned(), request.config.model.clone().into())]);
        if let Ok(Value::Object(tail)) = tail {
            fields.extend(tail);
        }
        fields
    }

    fn write(
        &self,
        request: &Request,
        extra: &Map<String, Value>,
        cache: &mut Cache,
        body: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        body.extend_from_slice(b"{\"model\":");
        serde_json::to_writer(&mut *body, &request.config.model)?;
        body.extend_from_slice(b",\"messages\":[");
        let start = body.len();
        if let Some(system) = &request.system {
            cache.systems.append(system, body, |text, out| {
                serde_json::to_writer(&mut *out, &WireMessage::System { content: text.into() })?;
                out.push(b',');
                serde_json::Result::Ok(())
            })?;
        }
        for message in &request.messages {
            cache
                .messages
                .append(message, body, |message, out| message::write(message, &self.compat, out))?;
        }
        if body.len() > start {
            body.pop();
        }
        body.push(b']');
        if !request.tools.is_empty() {
            cache.tools.append(&request.tools, body, write_tools)?;
        }
        append_fields(&self.tail(request), body)?;
        if !extra.is_empty() {
            append_fields(extra, body)?;
        }
        body.push(b'}');
        Ok(())
    }

    fn tail<'a>(&self, request: &'a Request) -> Tail<'a> {
        let config = &request.config;
        let field = self.compat.max_tokens_field.unwrap_or_default();
        let limit = |of: MaxTokensField| config.max_tokens.filter(|_| field == of);
        Tail {
            effort: EffortFields::new(self.compat.effort, config.reasoning_effort.as_deref()),
            temperature: config.temperature,
            max_tokens: limit(MaxTokensField::MaxTokens),
            max_completion_tokens: limit(MaxTokensField::MaxCompletionTokens),
            stop: &config.stop,
            stream: true,
            stream_options: self.compat.stream_options.then_some(StreamOptions { include_usage: true }),
        }
    }
}

fn write_tools(tools: &[ToolSpec], out: &mut Vec<u8>) -> serde_json::Result<()> {
    let tools: Vec<_> = tools.iter().map(|function| WireTool { r#type: "function", function }).collect();
    out.extend_from_slice(b",\"tools\":");
    serde_json::to_writer(out, &tools)
}
