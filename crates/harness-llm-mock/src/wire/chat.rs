//! Streaming chat completions.

use serde_json::{Value, json};

use super::{CREATED, Call, Closing, USAGE_MARK, Writer, around_usage};
use crate::reply::End;
use crate::token_usage::TokenUsage;

pub(super) struct ChatWriter {
    /// Number of the reply in the script.
    reply: usize,
    model: String,
    calls: usize,
    has_role: bool,
}

impl ChatWriter {
    pub(super) fn new(reply: usize, model: String) -> Self {
        Self { reply, model, calls: 0, has_role: false }
    }

    fn delta(&mut self, out: &mut Vec<u8>, mut delta: Value) {
        if !self.has_role {
            self.has_role = true;
            let mut opening = json!({ "role": "assistant" });
            if let (Value::Object(opening), Value::Object(rest)) = (&mut opening, delta) {
                opening.extend(rest);
            }
            delta = opening;
        }
        self.choice(out, &delta, None);
    }

    /// A chunk with one choice.
    fn choice(&self, out: &mut Vec<u8>, delta: &Value, finish: Option<&str>) {
        event(out, &self.envelope(&json!([{ "index": 0, "delta": delta, "finish_reason": finish }])));
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

impl Writer for ChatWriter {
    fn text(&mut self, out: &mut Vec<u8>, piece: &str) {
        self.delta(out, json!({ "content": piece }));
    }

    fn reasoning(&mut self, out: &mut Vec<u8>, piece: &str) {
        self.delta(out, json!({ "reasoning_content": piece }));
    }

    fn call(&mut self, out: &mut Vec<u8>, call: &Call<'_>) {
        let index = self.calls;
        self.calls += 1;
        let (first, rest) = match call.pieces {
            [only] => (*only, &[][..]),
            pieces => ("", pieces),
        };
        let function = json!({ "name": call.name, "arguments": first });
        let opening = json!({ "index": index, "id": call.id, "type": "function", "function": function });
        self.delta(out, json!({ "tool_calls": [opening] }));
        for piece in rest {
            let part = json!({ "index": index, "function": { "arguments": piece } });
            self.delta(out, json!({ "tool_calls": [part] }));
        }
    }

    fn close(&mut self, closing: Closing<'_>) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut out = Vec::new();
        let default = if closing.has_calls { "tool_calls" } else { "stop" };
        self.choice(&mut out, &json!({}), Some(closing.finish.unwrap_or(default)));
        if closing.has_usage {
            let mut chunk = self.envelope(&json!([]));
            chunk["usage"] = USAGE_MARK.into();
            event(&mut out, &chunk);
        }
        if closing.end == End::Done {
            out.extend_from_slice(b"data: [DONE]\n\n");
        }
        around_usage(&out)
    }
}

pub(super) fn usage(usage: TokenUsage) -> Value {
    let mut wire = json!({
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens.saturating_add(usage.completion_tokens),
    });
    if let Some(cached) = usage.cached_tokens {
        wire["prompt_tokens_details"] = json!({ "cached_tokens": cached });
    }
    if let Some(reasoning) = usage.reasoning_tokens {
        wire["completion_tokens_details"] = json!({ "reasoning_tokens": reasoning });
    }
    wire
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
    out.extend_from_slice(format!("data: {data}\n\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_present_only_if_scripted() {
        let plain = usage(TokenUsage::estimated(5, 4));
        assert_eq!(plain, json!({ "prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3 }));
        let detailed =
            TokenUsage { cached_tokens: Some(1), reasoning_tokens: Some(2), ..TokenUsage::default() };
        assert_eq!(usage(detailed)["prompt_tokens_details"]["cached_tokens"], 1);
        assert_eq!(usage(detailed)["completion_tokens_details"]["reasoning_tokens"], 2);
    }
}
