//! The same reply for a client that did not ask for a stream.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::plan::{Action, Plan};

/// One JSON object with the whole text in place of the stream. Waits stay; tool calls are not part of it.
pub(crate) fn unstreamed(mut plan: Plan) -> Plan {
    if plan.whole.is_some() {
        return plan;
    }
    let mut stream = Vec::new();
    plan.actions.retain(|action| match action {
        Action::Body(bytes) => {
            stream.extend_from_slice(bytes);
            false
        }
        Action::EstimatedUsage { .. } => false,
        _ => true,
    });
    let (mut text, mut finish) = (String::new(), Value::Null);
    for line in String::from_utf8_lossy(&stream).lines() {
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let Ok(chunk) = serde_json::from_str::<Value>(data) else { continue };
        text.push_str(chunk.pointer("/choices/0/delta/content").and_then(Value::as_str).unwrap_or_default());
        if let Some(found) = chunk.pointer("/choices/0/finish_reason").filter(|found| !found.is_null()) {
            finish = found.clone();
        }
    }
    let message = json!({ "role": "assistant", "content": text });
    let body = json!({
        "object": "chat.completion",
        "model": plan.model,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
    });
    plan.whole = Some(Bytes::from(body.to_string()));
    for (name, value) in &mut plan.headers {
        if name.eq_ignore_ascii_case("content-type") {
            "application/json".clone_into(value);
        }
    }
    plan
}
