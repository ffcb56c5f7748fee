//! One scripted answer to one request.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::step::{Drip, Step, ToolCall};
use crate::token_usage::TokenReport;

/// Headers that the server sets itself, because they describe the bytes that it sends.
const FRAMING_HEADERS: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

/// One answer. The default is an empty, well-formed stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    /// Use this reply only for a request whose last message contains this text. Until such a
    /// request comes, later replies are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_last_message_contains: Option<String>,
    /// How many requests get this reply. Default 1.
    pub times: u32,
    /// The HTTP status. Default 200.
    pub status: u16,
    /// Headers to add, or to replace the default ones with.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// A whole body, in place of a stream: for errors. Steps can then only wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What happens, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The finish reason. Default `tool_calls` if there is a tool call, else `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<String>,
    /// What is said about tokens.
    pub usage: TokenReport,
    /// How the reply ends after its steps.
    pub end: End,
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Finish reason, usage, `data: [DONE]`, and a body that is complete for HTTP.
    #[default]
    Done,
    /// Like [`End::Done`] without `data: [DONE]`.
    WithoutDone,
    /// A body that is complete for HTTP, without finish reason, usage and `data: [DONE]`.
    Eof,
    /// The connection closes with the body incomplete for HTTP. Without a `head` step or any body,
    /// not even the response head is sent.
    Cut,
    /// Like [`End::Cut`], with a TCP reset.
    Reset,
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            when_last_message_contains: None,
            times: 1,
            status: 200,
            headers: BTreeMap::new(),
            body: None,
            steps: Vec::new(),
            finish: None,
            usage: TokenReport::default(),
            end: End::default(),
        }
    }
}

/// A streamed answer of one piece, finish reason `stop`.
pub fn txt(text: impl Into<String>) -> Reply {
    Reply::new().pieces([text])
}

/// A streamed tool call, finish reason `tool_calls`. A string of `arguments` is sent as it is.
pub fn tc(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Value>) -> Reply {
    Reply::new().call(ToolCall::new(name, arguments).id(id))
}

/// Builders.
impl Reply {
    /// An empty stream, to add steps to.
    pub fn new() -> Self {
        Self::default()
    }

    /// An error answer with the body `{"error":{"message","type","code"}}`.
    pub fn error(status: u16, message: &str) -> Self {
        let body =
            json!({ "error": { "message": message, "type": "mock_error", "code": status.to_string() } });
        Self { status, body: Some(body.to_string()), ..Self::default() }
    }

    /// Adds a step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds answer text, one chunk for each piece.
    #[must_use]
    pub fn pieces(self, pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.step(Step::Text(pieces.into_iter().map(Into::into).collect()))
    }

    /// Adds reasoning, one chunk for each piece.
    #[must_use]
    pub fn reasoning(self, pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.step(Step::Reasoning(pieces.into_iter().map(Into::into).collect()))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn call(self, call: ToolCall) -> Self {
        self.step(Step::ToolCall(call))
    }

    /// Adds bytes as they are.
    #[must_use]
    pub fn bytes(self, bytes: impl AsRef<[u8]>) -> Self {
        self.step(Step::Base64(STANDARD.encode(bytes)))
    }

    /// Ends the write here and waits 20 ms, so that what follows is a new TCP segment.
    #[must_use]
    pub fn flush(self) -> Self {
        self.step(Step::PauseMs(20))
    }

    /// Waits here until the gate is released.
    #[must_use]
    pub fn gate(self, name: impl Into<String>) -> Self {
        self.step(Step::Gate(name.into()))
    }

    /// Sends what follows in writes of `bytes` bytes, `every_ms` milliseconds apart.
    #[must_use]
    pub fn drip(self, bytes: usize, every_ms: u64) -> Self {
        self.step(Step::Drip(Drip { bytes, every_ms }))
    }

    /// Sets the finish reason.
    #[must_use]
    pub fn finish(self, reason: impl Into<String>) -> Self {
        Self { finish: Some(reason.into()), ..self }
    }

    /// Sets what is said about tokens.
    #[must_use]
    pub fn usage(self, usage: TokenReport) -> Self {
        Self { usage, ..self }
    }

    /// Sets how the reply ends.
    #[must_use]
    pub fn end(self, end: End) -> Self {
        Self { end, ..self }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Uses the reply only for a request whose last message contains `text`.
    #[must_use]
    pub fn when_last_message_contains(self, text: impl Into<String>) -> Self {
        Self { when_last_message_contains: Some(text.into()), ..self }
    }

    /// Uses the reply for this many requests.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }
}

impl Reply {
    /// The first thing in it that cannot be sent.
    pub(crate) fn fault(&self) -> Option<String> {
        if !(200..=599).contains(&self.status) {
            return Some(format!("status {} is not between 200 and 599", self.status));
        }
        if self.times == 0 {
            return Some("`times` is 0, so no request would ever get it".to_owned());
        }
        self.headers.iter().find_map(header_fault).or_else(|| self.steps.iter().find_map(step_fault)).or_else(
            || {
                let waits = |step: &Step| matches!(step, Step::PauseMs(_) | Step::Gate(_) | Step::Stall);
                let is_whole = self.end == End::Done && self.finish.is_none() && self.steps.iter().all(waits);
                (self.body.is_some() && !is_whole).then(|| {
                    "with a `body`, steps can only wait, and `finish` and `end` have no use".to_owned()
                })
            },
        )
    }
}

fn header_fault((name, value): (&String, &String)) -> Option<String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Some(format!("{name:?} is not a header name"));
    }
    if FRAMING_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        return Some(format!("the server sets `{name}` itself; use `end` to break the framing"));
    }
    let is_printable = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    (!value.bytes().all(is_printable)).then(|| format!("the value of header `{name}` has control characters"))
}

fn step_fault(step: &Step) -> Option<String> {
    match step {
        Step::Base64(text) => {
            STANDARD.decode(text).err().map(|fault| format!("a `base64` step is not Base64: {fault}"))
        }
        Step::Drip(Drip { bytes: 0, .. }) => Some("`drip` with 0 bytes would never end".to_owned()),
        Step::ToolCall(ToolCall { pieces: 0, name, .. }) => {
            Some(format!("the call of `{name}` has 0 pieces; 1 sends its arguments whole"))
        }
        Step::ToolCall(_)
        | Step::Drip(_)
        | Step::Text(_)
        | Step::Reasoning(_)
        | Step::Words(_)
        | Step::Raw(_)
        | Step::Head
        | Step::PauseMs(_)
        | Step::Gate(_)
        | Step::Stall => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_sent_is_named() {
        let call = ToolCall::new("read", json!({})).pieces(0);
        for (reply, part) in [
            (Reply { status: 99, ..Reply::new() }, "status 99"),
            (Reply::new().times(0), "`times`"),
            (Reply::new().header("Content-Length", "3"), "Content-Length"),
            (Reply::new().header("a b", "3"), "header name"),
            (Reply::new().header("a", "3\r\nb: 4"), "control characters"),
            (Reply::new().step(Step::Base64("?".into())), "Base64"),
            (Reply::new().drip(0, 1), "`drip`"),
            (Reply::new().call(call), "0 pieces"),
            (Reply { body: Some(String::new()), ..txt("x") }, "`body`"),
            (Reply::error(500, "x").end(End::Cut), "`body`"),
        ] {
            let fault = reply.fault();
            assert!(fault.as_deref().is_some_and(|fault| fault.contains(part)), "{part}: {fault:?}");
        }
        assert_eq!(Reply::error(429, "slow down").header("Retry-After", "1").gate("g").fault(), None);
    }
}
