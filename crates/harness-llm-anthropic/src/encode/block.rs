//! The blocks of one message.
use std::borrow::Cow;

use harness_llm::{Block, CallConfig, Message, MessageSource, ToolCallBlock, ToolResultBlock};
use harness_llm_http::plain_text;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Stands for a tool result without text.
const EMPTY_RESULT: &str = "(no output)";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireBlock<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// Appends the tool results of a message, each followed by a comma.
pub(super) fn write_results(message: &Message, out: &mut Vec<u8>) -> serde_json::Result<()> {
    for block in &message.content {
        if let Block::ToolResult(ToolResultBlock { call_id, content, is_error }) = block {
            let content = plain_text(content);
            let content = if content.is_empty() { EMPTY_RESULT.into() } else { content };
            put(
                &WireBlock::ToolResult { tool_use_id: legal_id(call_id), content, is_error: *is_error },
                out,
            )?;
        }
    }
    Ok(())
}

/// Appends everything else of a message, in its order, each block followed by a comma.
///
/// Depends on the message, the route and the model alone, so that history is written the same way in every request.
/// Thinking goes back to the model that made it; without a signature it cannot.
pub(super) fn write_rest(
    message: &Message,
    config: &CallConfig,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let is_own = matches!(
        &message.source,
        MessageSource::Model { provider, model, .. } if *provider == config.provider && *model == config.model
    );
    for block in &message.content {
        match block {
            Block::Reasoning { text, replay: Some(replay) } if is_own => {
                if let Some(signature) = replay["signature"].as_str() {
                    put(&WireBlock::Thinking { thinking: text, signature }, out)?;
                } else if let Some(data) = replay["redacted"].as_str() {
                    put(&WireBlock::RedactedThinking { data }, out)?;
                }
            }
            Block::Reasoning { .. } | Block::ToolResult(_) => {}
            Block::ToolCall(ToolCallBlock { id, name, arguments }) => {
                put(&WireBlock::ToolUse { id: legal_id(id), name, input: input(arguments)? }, out)?;
            }
            other => {
                let text = plain_text(std::slice::from_ref(other));
                // The service refuses a text of nothing but white space.
                if !text.trim().is_empty() {
                    put(&WireBlock::Text { text }, out)?;
                }
            }
        }
    }
    Ok(())
}

fn put(block: &WireBlock<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, block)?;
    out.push(b',');
    Ok(())
}

/// A call's id in the letters that the service takes; other providers use more of them.
fn legal_id(id: &str) -> Cow<'_, str> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.chars().all(is_legal) {
        return id.into();
    }
    id.chars().map(|c| if is_legal(c) { c } else { '_' }).collect()
}

/// Arguments as the object that the format demands, in the model's own bytes; what is no object is kept within one.
fn input(arguments: &str) -> serde_json::Result<Box<RawValue>> {
    let text = arguments.trim();
    if text.is_empty() {
        return RawValue::from_string("{}".to_owned());
    }
    if serde_json::from_str::<Map<String, Value>>(text).is_ok() {
        return RawValue::from_string(text.to_owned());
    }
    serde_json::value::to_raw_value(&json!({ "unreadable_arguments": arguments }))
}
