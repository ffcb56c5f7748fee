//! One message of history as input items.
use std::borrow::Cow;

use harness_llm::{Block, CallConfig, Message, MessageSource, Role, ToolResultBlock};
use harness_llm_http::plain_text;
use serde::Serialize;
use serde_json::{Value, json};

/// Stands for a tool result without text.
const EMPTY_RESULT: &str = "(no output)";

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message { role: &'static str, content: [Part<'a>; 1] },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: &'a str, output: Cow<'a, str> },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    InputText { text: Cow<'a, str> },
    OutputText { text: Cow<'a, str> },
}

/// Appends the items of `message`, each followed by a comma. A message that says nothing to a model adds nothing.
///
/// Depends on the message, the route and the model alone, so that history is written the same way in every request.
pub(super) fn write(message: &Message, config: &CallConfig, out: &mut Vec<u8>) -> serde_json::Result<()> {
    match message.role {
        Role::System => said("developer", &message.content, out),
        Role::User => user(&message.content, out),
        Role::Assistant => assistant(message, config, out),
    }
}

fn put(item: &impl Serialize, out: &mut Vec<u8>) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, item)?;
    out.push(b',');
    Ok(())
}

fn said(role: &'static str, content: &[Block], out: &mut Vec<u8>) -> serde_json::Result<()> {
    let text = plain_text(content);
    put(&Item::Message { role, content: [Part::InputText { text }] }, out)
}

fn user(content: &[Block], out: &mut Vec<u8>) -> serde_json::Result<()> {
    // Results first: they belong to the calls before them.
    for block in content {
        if let Block::ToolResult(ToolResultBlock { call_id, content, .. }) = block {
            let output = plain_text(content);
            let output = if output.is_empty() { EMPTY_RESULT.into() } else { output };
            put(&Item::FunctionCallOutput { call_id, output }, out)?;
        }
    }
    if content.iter().any(|block| !matches!(block, Block::ToolResult(_))) {
        said("user", content, out)?;
    }
    Ok(())
}

/// The items in the order in which the model made them: reasoning must stand before what came of it.
fn assistant(message: &Message, config: &CallConfig, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let is_own = matches!(
        &message.source,
        MessageSource::Model { provider, model, .. } if *provider == config.provider && *model == config.model
    );
    for block in &message.content {
        match block {
            Block::Reasoning { text, replay: Some(replay) } if is_own => {
                if let Some(item) = reasoning(text, replay) {
                    put(&item, out)?;
                }
            }
            Block::Reasoning { .. } => {}
            Block::ToolCall(call) => {
                let (call_id, name, arguments) = (&*call.id, &*call.name, &*call.arguments);
                put(&Item::FunctionCall { call_id, name, arguments }, out)?;
            }
            other => {
                let text = plain_text(std::slice::from_ref(other));
                if !text.is_empty() {
                    put(&Item::Message { role: "assistant", content: [Part::OutputText { text }] }, out)?;
                }
            }
        }
    }
    Ok(())
}

/// The reasoning item as the server made it; `None` if it cannot be replayed.
fn reasoning(text: &str, replay: &Value) -> Option<Value> {
    let kept =
        replay.as_object().filter(|item| item.get("encrypted_content").is_some_and(Value::is_string))?;
    let mut item = json!({ "type": "reasoning" });
    for (name, value) in kept {
        item[name] = value.clone();
    }
    if !kept.contains_key("summary") {
        // A single part is kept as the block's text alone.
        item["summary"] =
            if text.is_empty() { json!([]) } else { json!([{ "type": "summary_text", "text": text }]) };
    }
    Some(item)
}
