//! The one sanitiser between derived messages and any adapter.
use std::borrow::Cow;
use std::sync::Arc;

use crate::block::{Block, ToolResultBlock};
use crate::message::Message;

/// Most bytes of one text and of one call's arguments. Far above what tools and models produce: a bound against what
/// would break a request, not a budget.
const MOST: usize = 1024 * 1024;
/// Longest tool name that every provider takes.
const NAME: usize = 64;
/// Stands for a tool name with nothing legal in it.
const NAMELESS: &str = "unnamed";

/// Makes a message fit for every provider:
///
/// - NUL characters become U+FFFD, as several providers refuse them. Lone surrogates cannot be in a Rust string, and
///   arguments that spell one out are no JSON object.
/// - Tool arguments that are not a JSON object, or are longer than 1 MiB, become `{}`, as several providers parse them
///   on arrival (the call's result tells the model what was wrong and quotes it).
/// - A tool name that the model made up with illegal characters, or too long, is written with `_` in their place and
///   cut, as the next request would be refused for it. The call has an error result already: no tool has such a name.
/// - A text longer than 1 MiB loses its middle, and says so.
///
/// That every call has its result behind it is not for this function to mend: the log refuses an event that would break
/// it.
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
        Block::Text { text } => text.len() <= MOST && !text.contains('\0'),
        // Reasoning may be signed as it is; its length is the model's own limit.
        Block::Reasoning { text, .. } => !text.contains('\0'),
        Block::ToolCall(call) => is_name(&call.name) && is_object(&call.arguments),
        Block::ToolResult(result) => result.content.iter().all(is_clean),
        Block::Image(_) | Block::Other(_) => true,
    }
}

fn is_legal(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME && name.chars().all(is_legal)
}
fn clean_name(name: &str) -> String {
    let clean: String = name.chars().take(NAME).map(|c| if is_legal(c) { c } else { '_' }).collect();
    if clean.is_empty() { NAMELESS.to_owned() } else { clean }
}

fn is_object(arguments: &str) -> bool {
    if arguments.len() > MOST {
        return false;
    }
    // Parsed whole, as a tool call is: merely skipping over it would let lone surrogates and bottomless nesting pass.
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments).is_ok()
}

fn clean_text(text: &str) -> String {
    let clean: Cow<'_, str> =
        if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() };
    clean.into_owned()
}

/// Beginning and end of a text that is too long, with a line between them, within the bound.
fn middle_out(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST {
        return Cow::Borrowed(text);
    }
    let half = MOST / 2 - NAME * 2;
    let (head, tail) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    let gone = tail - head;
    format!(
        "{}\n[… {gone} bytes are too much for one message and were left out …]\n{}",
        &text[..head],
        &text[tail..]
    )
    .into()
}

fn clean_block(block: &Block) -> Block {
    match block {
        Block::Text { text } => Block::Text { text: middle_out(&clean_text(text)).into_owned() },
        Block::Reasoning { text, replay } => {
            Block::Reasoning { text: clean_text(text), replay: replay.clone() }
        }
        Block::ToolCall(call) => {
            let mut call = call.clone();
            if !is_object(&call.arguments) {
                "{}".clone_into(&mut call.arguments);
            }
            if !is_name(&call.name) {
                call.name = clean_name(&call.name);
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
