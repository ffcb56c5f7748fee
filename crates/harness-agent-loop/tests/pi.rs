//! The jobs of another system's hooks, done with the typed surface: docs/pi-mapping.md, row by row.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and looks at real files"
)]
mod rig;

#[path = "pi/branch.rs"]
mod branch;
#[path = "pi/history.rs"]
mod history;
#[path = "pi/provider.rs"]
mod provider;
#[path = "pi/queues.rs"]
mod queues;
#[path = "pi/tool_calls.rs"]
mod tool_calls;
#[path = "pi/turns.rs"]
mod turns;

use std::sync::{Arc, Mutex};

use harness_llm::{ContextForm, Message, Request};

/// Something that listeners write down.
type Notes<T> = Arc<Mutex<Vec<T>>>;

fn note(text: &str) -> Message {
    Message::context("test", ContextForm::Notice, text)
}
/// What each message of a request says, tool results included.
fn said(request: &Request) -> Vec<String> {
    request.messages.iter().map(|message| line(message)).collect()
}
fn line(message: &Message) -> String {
    use harness_llm::Block;
    let block = |block: &Block| match block {
        Block::ToolCall(call) => format!("[{}]", call.id),
        Block::ToolResult(result) => {
            let text: String = result.content.iter().filter_map(Block::as_text).collect();
            format!("{}={text}{}", result.call_id, if result.is_error { "!" } else { "" })
        }
        Block::Image(image) => format!("<{}>", image.content_id),
        other => other.as_text().unwrap_or("?").to_owned(),
    };
    message.content.iter().map(block).collect()
}
