//! The one sanitiser between derived messages and any adapter.
use std::borrow::Cow;
use std::sync::Arc;

use crate::block::{Block, ToolResultBlock};
use crate::message::Message;

/// Makes a message fit for every provider: NUL characters become U+FFFD, as several providers refuse them, and
/// tool arguments that are not a JSON object become `{}`, as several parse them on arrival (the call's result
/// tells the model what was wrong and quotes it).
///
/// A pure function, part of the derivation, so that the log and the request can be compared. A message that is
/// already fit is returned as it is, without a copy.
pub fn sanitize_message(message: &Arc<Message>) -> Arc<Message> {
    if message.content.iter().all(is_clean) {
        return Arc::clone(message);
    }
    let mut clean = Message::clone(message);
    clean.content = message.content.iter().map(clean_block).collect();
    Arc::new(clean)
}

fn is_clean(block: &Block) -> bool {
    match block {
        Block::Text { text } | Block::Reasoning { text, .. } => !text.contains('\0'),
        Block::ToolCall(call) => is_object(&call.arguments),
        Block::ToolResult(result) => result.content.iter().all(is_clean),
        Block::Image(_) | Block::Other(_) => true,
    }
}

fn is_object(arguments: &str) -> bool {
    // Parsed whole, as a tool call is: merely skipping over it would let lone surrogates and bottomless nesting pass.
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments).is_ok()
}

fn clean_text(text: &str) -> String {
    let clean: Cow<'_, str> =
        if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() };
    clean.into_owned()
}

fn clean_block(block: &Block) -> Block {
    match block {
        Block::Text { text } => Block::Text { text: clean_text(text) },
        Block::Reasoning { text, replay } => {
            Block::Reasoning { text: clean_text(text), replay: replay.clone() }
        }
        Block::ToolCall(call) => {
            let mut call = call.clone();
            if !is_object(&call.arguments) {
                "{}".clone_into(&mut call.arguments);
            }
            Block::ToolCall(call)
        }
        Block::ToolResult(result) => Block::ToolResult(ToolResultBlock {
            call_id: result.call_id.clone(),
            content: result.content.iter().map(clean_block).collect(),
            is_error: result.is_error,
        }),
        Block::Image(_) | Block::Other(_) => block.clone(),
    }
}
