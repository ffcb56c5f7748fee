//! What happens within one reply, in order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One step of a reply.
///
/// Bytes of neighbouring steps leave in one write; a pause, gate or stall is where a write ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Answer text, one chunk for each piece. `{{last_message}}` stands for the text of the
    /// request's last message, for example a tool result.
    Text(Vec<String>),
    /// Reasoning (`reasoning_content`), one chunk for each piece.
    Reasoning(Vec<String>),
    /// A tool call. Calls are numbered in the order of their steps.
    ToolCall(ToolCall),
    /// This many one-word chunks of answer text, for measuring throughput.
    Words(u32),
    /// Text put into the body as it is.
    Raw(String),
    /// Bytes put into the body as they are, so that a character can be split or be invalid.
    Base64(String),
    /// Sends the response head now. Otherwise it goes out with the first bytes of the body.
    Head,
    /// Sends what there is, then waits this many milliseconds.
    PauseMs(u64),
    /// Sends what there is, then waits until this gate is released.
    Gate(String),
    /// Sends what there is, then waits until the client goes away.
    Stall,
    /// From here on, sends the body in small writes.
    Drip(Drip),
}

/// The pace of [`Step::Drip`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drip {
    /// Bytes of the body in one write; characters and lines are split where they fall.
    pub bytes: usize,
    /// Milliseconds between two writes.
    pub every_ms: u64,
}

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The call's id; one that no other request gets if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// A string is sent as it is, well-formed or not; any other value is sent as its JSON text.
    pub arguments: Value,
    /// In how many pieces the arguments arrive. One piece comes in the chunk with id and name, more
    /// follow it.
    #[serde(default = "one")]
    pub pieces: usize,
}

fn one() -> usize {
    1
}

impl ToolCall {
    /// A call whose arguments arrive in one piece.
    pub fn new(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self { id: None, name: name.into(), arguments: arguments.into(), pieces: 1 }
    }

    /// Sets the call's id.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Sets in how many pieces the arguments arrive.
    #[must_use]
    pub fn pieces(self, pieces: usize) -> Self {
        Self { pieces, ..self }
    }

    /// The arguments as they go over the wire.
    pub(crate) fn argument_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        }
    }
}
