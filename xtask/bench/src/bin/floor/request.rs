//! The conversation, as the server wants it.
use anyhow::Result;
use serde_json::{Value, json};

use crate::stream::Answer;

/// All that was said.
pub(crate) struct History {
    model: String,
    tools: Value,
    messages: Vec<Value>,
}

impl History {
    /// Nothing said yet.
    pub(crate) fn new(model: &str) -> Self {
        let parameters = json!({
            "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"]
        });
        let tools = json!([{
            "type": "function",
            "function": { "name": "bash", "description": "Runs a command.", "parameters": parameters }
        }]);
        Self { model: model.to_owned(), tools, messages: Vec::new() }
    }
    /// The person speaks.
    pub(crate) fn user(&mut self, text: &str) -> &Value {
        self.push(json!({ "role": "user", "content": text }))
    }
    /// The model has spoken.
    pub(crate) fn assistant(&mut self, answer: &Answer) -> &Value {
        let mut message = json!({ "role": "assistant", "content": answer.text });
        if !answer.calls.is_empty() {
            let calls = answer.calls.iter().map(|call| {
                json!({
                    "id": call.id, "type": "function",
                    "function": { "name": call.name, "arguments": call.arguments }
                })
            });
            message["tool_calls"] = calls.collect();
        }
        self.push(message)
    }
    /// A command has run.
    pub(crate) fn tool(&mut self, call: &str, output: &str) -> &Value {
        self.push(json!({ "role": "tool", "tool_call_id": call, "content": output }))
    }
    /// The next request.
    pub(crate) fn body(&self) -> Result<Vec<u8>> {
        #[derive(serde::Serialize)]
        struct Body<'a> {
            model: &'a str,
            messages: &'a [Value],
            tools: &'a Value,
            stream: bool,
        }
        let body = Body { model: &self.model, messages: &self.messages, tools: &self.tools, stream: true };
        Ok(serde_json::to_vec(&body)?)
    }
    fn push(&mut self, message: Value) -> &Value {
        self.messages.push(message);
        &self.messages[self.messages.len() - 1]
    }
}
