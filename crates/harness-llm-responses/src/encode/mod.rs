//! Requests to bodies.
mod item;

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use harness_llm::{FailureCode, LlmError, Message, Request, ToolSpec};
use harness_llm_http::{Fragments, append_fields};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::protocol::ResponsesCompat;

/// A step adds this much at most, most of the time, so that the body is allocated once.
const ROOM_TO_GROW: usize = 16 * 1024;

/// Writes request bodies for one endpoint.
///
/// The `input` array is the concatenation of one fragment for each message: the history of one request is, byte for
/// byte, the start of the next one's. Fragments are kept for as long as the messages that they come from are in use.
pub struct Encoder {
    compat: ResponsesCompat,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    /// The route and model that the fragments are written for: reasoning goes back to the one that made it only.
    target: (String, String),
    messages: Fragments<Message>,
    tools: Fragments<[ToolSpec]>,
    /// Length of the last body.
    last_length: usize,
}

/// The part of a body that follows the tools.
#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    store: bool,
    stream: bool,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    strict: bool,
}

impl Encoder {
    /// An encoder with nothing kept yet.
    pub fn new(compat: ResponsesCompat) -> Self {
        Self { compat, cache: Mutex::default() }
    }

    /// The body of `request`, with fields of the provider's own at its end. The same request gives the same bytes.
    ///
    /// # Errors
    /// [`FailureCode::INVALID_REQUEST`] for a value without a JSON form.
    pub fn encode_with(&self, request: &Request, extra: &Map<String, Value>) -> Result<Bytes, LlmError> {
        // A panic inside leaves no half-written fragment: entries are inserted whole.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let target = (request.config.provider.clone(), request.config.model.clone());
        if cache.target != target {
            *cache = Cache { target, ..Cache::default() };
        }
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
        let mut fields = Map::from_iter([("model".to_owned(), request.config.model.clone().into())]);
        if let Ok(Value::Object(tail)) = serde_json::to_value(self.tail(request)) {
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
        if let Some(system) = &request.system {
            body.extend_from_slice(b",\"instructions\":");
            serde_json::to_writer(&mut *body, &**system)?;
        }
        body.extend_from_slice(b",\"input\":[");
        let start = body.len();
        let config = &request.config;
        for message in &request.messages {
            cache.messages.append(message, body, |message, out| item::write(message, config, out))?;
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
        Tail {
            reasoning: config.reasoning_effort.as_deref().map(|effort| match effort {
                "off" | "none" => Reasoning { effort: "none", summary: None },
                effort => Reasoning { effort, summary: Some("auto") },
            }),
            temperature: config.temperature,
            max_output_tokens: config.max_tokens,
            include: if self.compat.encrypted_reasoning { &["reasoning.encrypted_content"] } else { &[] },
            store: false,
            stream: true,
        }
    }
}

fn write_tools(tools: &[ToolSpec], out: &mut Vec<u8>) -> serde_json::Result<()> {
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| WireTool {
            r#type: "function",
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
            strict: false,
        })
        .collect();
    out.extend_from_slice(b",\"tools\":");
    serde_json::to_writer(out, &tools)
}
