//! Anthropic's messages, streamed.

use serde_json::{Value, json};

use super::{Call, Closing, USAGE_MARK, Writer, around_usage, named_event};
use crate::reply::End;
use crate::token_usage::TokenUsage;

pub(super) struct MessagesWriter {
    reply: usize,
    model: String,
    is_open: bool,
    blocks: usize,
    /// The block that is open.
    block: Option<Block>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thinking,
    Call,
}

impl MessagesWriter {
    pub(super) fn new(reply: usize, model: String) -> Self {
        Self { reply, model, is_open: false, blocks: 0, block: None }
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        if self.is_open {
            return;
        }
        self.is_open = true;
        let message = json!({
            "id": format!("msg_mock_{}", self.reply),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        });
        named_event(out, &json!({ "type": "message_start", "message": message }));
    }

    fn open(&mut self, out: &mut Vec<u8>, block: Block, content: &Value) {
        self.start(out);
        if self.block == Some(block) && block != Block::Call {
            return;
        }
        self.shut(out);
        self.block = Some(block);
        let index = self.blocks;
        named_event(out, &json!({ "type": "content_block_start", "index": index, "content_block": content }));
    }

    fn delta(&mut self, out: &mut Vec<u8>, delta: &Value) {
        let index = self.blocks;
        named_event(out, &json!({ "type": "content_block_delta", "index": index, "delta": delta }));
    }

    fn shut(&mut self, out: &mut Vec<u8>) {
        let Some(block) = self.block.take() else { return };
        if block == Block::Thinking {
            let signature = format!("mock-signature-{}-{}", self.reply, self.blocks);
            self.delta(out, &json!({ "type": "signature_delta", "signature": signature }));
        }
        named_event(out, &json!({ "type": "content_block_stop", "index": self.blocks }));
        self.blocks += 1;
    }
}

impl Writer for MessagesWriter {
    fn text(&mut self, out: &mut Vec<u8>, piece: &str) {
        self.open(out, Block::Text, &json!({ "type": "text", "text": "" }));
        self.delta(out, &json!({ "type": "text_delta", "text": piece }));
    }

    fn reasoning(&mut self, out: &mut Vec<u8>, piece: &str) {
        self.open(out, Block::Thinking, &json!({ "type": "thinking", "thinking": "", "signature": "" }));
        self.delta(out, &json!({ "type": "thinking_delta", "thinking": piece }));
    }

    fn call(&mut self, out: &mut Vec<u8>, call: &Call<'_>) {
        let content = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        self.open(out, Block::Call, &content);
        for piece in call.pieces {
            self.delta(out, &json!({ "type": "input_json_delta", "partial_json": piece }));
        }
        self.shut(out);
    }

    fn close(&mut self, closing: Closing<'_>) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut out = Vec::new();
        self.start(&mut out);
        self.shut(&mut out);
        let reason = match closing.finish {
            None if closing.has_calls => "tool_use",
            None | Some("stop") => "end_turn",
            Some("tool_calls") => "tool_use",
            Some("length") => "max_tokens",
            Some("content_filter") => "refusal",
            Some(word) => word,
        };
        let mut last =
            json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null } });
        if closing.has_usage {
            last["usage"] = USAGE_MARK.into();
        }
        named_event(&mut out, &last);
        if closing.end == End::Done {
            named_event(&mut out, &json!({ "type": "message_stop" }));
        }
        around_usage(&out)
    }
}

/// Cached tokens are apart from the others in this format.
pub(super) fn usage(usage: TokenUsage) -> Value {
    let cached = usage.cached_tokens.unwrap_or(0);
    let mut wire = json!({
        "input_tokens": usage.prompt_tokens.saturating_sub(cached),
        "output_tokens": usage.completion_tokens,
    });
    if let Some(cached) = usage.cached_tokens {
        wire["cache_read_input_tokens"] = cached.into();
    }
    wire
}
