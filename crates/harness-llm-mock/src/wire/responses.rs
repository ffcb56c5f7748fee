//! OpenAI's responses, streamed.

use serde_json::{Value, json};

use super::{CREATED, Call, Closing, USAGE_MARK, Writer, around_usage, named_event};
use crate::reply::End;
use crate::token_usage::TokenUsage;

pub(super) struct ResponsesWriter {
    reply: usize,
    model: String,
    is_open: bool,
    /// The items that are done.
    output: Vec<Value>,
    item: Option<Item>,
}

/// The item that is open: its text so far.
enum Item {
    Message(String),
    Reasoning(String),
}

impl ResponsesWriter {
    pub(super) fn new(reply: usize, model: String) -> Self {
        Self { reply, model, is_open: false, output: Vec::new(), item: None }
    }

    fn response(&self, status: &str) -> Value {
        json!({
            "id": format!("resp_mock_{}", self.reply),
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "model": self.model,
            "output": self.output,
        })
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        if !self.is_open {
            self.is_open = true;
            named_event(
                out,
                &json!({ "type": "response.created", "response": self.response("in_progress") }),
            );
        }
    }

    fn id(&self, kind: &str) -> String {
        format!("{kind}_mock_{}_{}", self.reply, self.output.len())
    }

    fn added(&mut self, out: &mut Vec<u8>, item: &Value) {
        let index = self.output.len();
        named_event(
            out,
            &json!({ "type": "response.output_item.added", "output_index": index, "item": item }),
        );
    }

    fn done(&mut self, out: &mut Vec<u8>, item: Value) {
        let index = self.output.len();
        named_event(
            out,
            &json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
        );
        self.output.push(item);
    }

    fn shut(&mut self, out: &mut Vec<u8>) {
        match self.item.take() {
            None => {}
            Some(Item::Message(text)) => {
                let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
                let item = json!({
                    "type": "message", "id": self.id("msg"), "status": "completed", "role": "assistant", "content": content,
                });
                self.done(out, item);
            }
            Some(Item::Reasoning(text)) => {
                let id = self.id("rs");
                let item = json!({
                    "type": "reasoning",
                    "encrypted_content": format!("mock-encrypted-{id}"),
                    "id": id,
                    "summary": [{ "type": "summary_text", "text": text }],
                });
                self.done(out, item);
            }
        }
    }
}

impl Writer for ResponsesWriter {
    fn text(&mut self, out: &mut Vec<u8>, piece: &str) {
        self.start(out);
        if !matches!(self.item, Some(Item::Message(_))) {
            self.shut(out);
            let id = self.id("msg");
            let item = json!({
                "type": "message", "id": id, "status": "in_progress", "role": "assistant", "content": [],
            });
            self.added(out, &item);
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            let index = self.output.len();
            named_event(
                out,
                &json!({
                    "type": "response.content_part.added",
                    "item_id": id, "output_index": index, "content_index": 0, "part": part,
                }),
            );
            self.item = Some(Item::Message(String::new()));
        }
        if let Some(Item::Message(text)) = &mut self.item {
            text.push_str(piece);
        }
        named_event(
            out,
            &json!({
                "type": "response.output_text.delta",
                "item_id": self.id("msg"), "output_index": self.output.len(), "content_index": 0, "delta": piece,
            }),
        );
    }

    fn reasoning(&mut self, out: &mut Vec<u8>, piece: &str) {
        self.start(out);
        if !matches!(self.item, Some(Item::Reasoning(_))) {
            self.shut(out);
            let item = json!({ "type": "reasoning", "id": self.id("rs"), "summary": [] });
            self.added(out, &item);
            self.item = Some(Item::Reasoning(String::new()));
        }
        if let Some(Item::Reasoning(text)) = &mut self.item {
            text.push_str(piece);
        }
        named_event(
            out,
            &json!({
                "type": "response.reasoning_summary_text.delta",
                "item_id": self.id("rs"), "output_index": self.output.len(), "summary_index": 0, "delta": piece,
            }),
        );
    }

    fn call(&mut self, out: &mut Vec<u8>, call: &Call<'_>) {
        self.start(out);
        self.shut(out);
        let id = self.id("fc");
        let item = |status: &str, arguments: &str| {
            json!({
                "type": "function_call",
                "id": id, "call_id": call.id, "name": call.name, "arguments": arguments, "status": status,
            })
        };
        let index = self.output.len();
        self.added(out, &item("in_progress", ""));
        for piece in call.pieces {
            named_event(
                out,
                &json!({
                    "type": "response.function_call_arguments.delta",
                    "item_id": id, "output_index": index, "delta": piece,
                }),
            );
        }
        let arguments = call.pieces.concat();
        named_event(
            out,
            &json!({
                "type": "response.function_call_arguments.done",
                "item_id": id, "output_index": index, "arguments": arguments,
            }),
        );
        self.done(out, item("completed", &arguments));
    }

    fn close(&mut self, closing: Closing<'_>) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut out = Vec::new();
        self.start(&mut out);
        self.shut(&mut out);
        if closing.end != End::Done {
            // The end marker of this format is the event that says how the response ended.
            return (out, None);
        }
        let incomplete = match closing.finish {
            Some("length") => Some("max_output_tokens"),
            Some(word @ "content_filter") => Some(word),
            _ => None,
        };
        let status = if incomplete.is_some() { "incomplete" } else { "completed" };
        let mut response = self.response(status);
        if let Some(reason) = incomplete {
            response["incomplete_details"] = json!({ "reason": reason });
        }
        if closing.has_usage {
            response["usage"] = USAGE_MARK.into();
        }
        named_event(&mut out, &json!({ "type": format!("response.{status}"), "response": response }));
        around_usage(&out)
    }
}

pub(super) fn usage(usage: TokenUsage) -> Value {
    let mut wire = json!({
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens.saturating_add(usage.completion_tokens),
    });
    if let Some(cached) = usage.cached_tokens {
        wire["input_tokens_details"] = json!({ "cached_tokens": cached });
    }
    if let Some(reasoning) = usage.reasoning_tokens {
        wire["output_tokens_details"] = json!({ "reasoning_tokens": reasoning });
    }
    wire
}
