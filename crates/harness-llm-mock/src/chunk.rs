//! The event bytes of the streaming chat-completions format.

use serde_json::{Value, json};

/// A fixed creation time, so that the same script gives the same bytes.
const CREATED: u64 = 1_767_225_600;

/// Writes `data:` events of one reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkWriter<'a> {
    /// Number of the reply in the script.
    pub(crate) reply: usize,
    pub(crate) model: &'a str,
}

impl ChunkWriter<'_> {
    /// A chunk with one choice.
    pub(crate) fn delta(&self, out: &mut Vec<u8>, delta: &Value, finish: Option<&str>) {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
        event(out, &self.envelope(&choices));
    }

    /// The last chunk: no choice, token counts.
    pub(crate) fn usage(&self, out: &mut Vec<u8>, usage: &Value) {
        let mut chunk = self.envelope(&json!([]));
        chunk["usage"] = usage.clone();
        event(out, &chunk);
    }

    fn envelope(&self, choices: &Value) -> Value {
        json!({
            "id": format!("chatcmpl-mock-{}", self.reply),
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": self.model,
            "choices": choices,
        })
    }
}

/// The sentinel after the last chunk.
pub(crate) fn done(out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: [DONE]\n\n");
}

/// The answer of the model list endpoint.
pub(crate) fn model_list(model: &str) -> Value {
    let entry = json!({ "id": model, "object": "model", "created": CREATED, "owned_by": "harness-llm-mock" });
    json!({ "object": "list", "data": [entry] })
}

/// An error body in the form that clients of this format know.
pub(crate) fn error(kind: &str, code: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "code": code } })
}

fn event(out: &mut Vec<u8>, data: &Value) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(data.to_string().as_bytes());
    out.extend_from_slice(b"\n\n");
}
