//! One message of history as wire messages.
use std::borrow::Cow;

use harness_llm::{Block, Message, Role, ToolCallBlock, ToolResultBlock};
use harness_llm_http::{plain_text, reasoning_text};
use serde::Serialize;

use crate::compat::{Compat, EmptyContent, ReasoningReplay};

/// Stands for a tool result without text, which several servers refuse.
const EMPTY_RESULT: &str = "(no output)";

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum WireMessage<'a> {
    System {
        content: Cow<'a, str>,
    },
    User {
        content: Cow<'a, str>,
    },
    Assistant {
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
pub(super) struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// Appends the wire form of `message`, each wire message followed by a comma. A message that says nothing to a
/// model adds nothing.
///
/// Depends on the message and the compatibility settings alone, so that history is written the same way in
/// every request.
pub(super) fn write(message: &Message, compat: &Compat, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut put = |wire: &WireMessage<'_>| {
        serde_json::to_writer(&mut *out, wire)?;
        out.push(b',');
        Ok(())
    };
    match message.role {
        Role::System => put(&WireMessage::System { content: plain_text(&message.content) }),
        Role::Assistant => put(&assistant(message, compat)),
        Role::User => {
            // Results first: they must follow the calls that they answer without anything between.
            for block in &message.content {
                if let Block::ToolResult(result) = block {
                    put(&tool(result))?;
                }
            }
            if message.content.iter().any(|block| !matches!(block, Block::ToolResult(_))) {
                put(&WireMessage::User { content: plain_text(&message.content) })?;
            }
            Ok(())
        }
    }
}

fn tool(result: &ToolResultBlock) -> WireMessage<'_> {
    let content = plain_text(&result.content);
    let content = if content.is_empty() { EMPTY_RESULT.into() } else { content };
    WireMessage::Tool { tool_call_id: &result.call_id, content }
}

fn assistant<'a>(message: &'a Message, compat: &Compat) -> WireMessage<'a> {
    let tool_calls: Vec<_> = message.tool_calls().map(call).collect();
    let content = plain_text(&message.content);
    let as_null = compat.empty_content == EmptyContent::Null && !tool_calls.is_empty() && content.is_empty();
    let replays = match compat.reasoning_replay {
        ReasoningReplay::Never => false,
        ReasoningReplay::ToolCalls => !tool_calls.is_empty(),
        ReasoningReplay::Always => true,
    };
    let reasoning_content = if replays { reasoning_text(&message.content) } else { "".into() };
    let is_required = compat.reasoning_required && !tool_calls.is_empty();
    WireMessage::Assistant {
        content: (!as_null).then_some(content),
        reasoning_content: (is_required || !reasoning_content.is_empty()).then_some(reasoning_content),
        tool_calls,
    }
}

fn call(call: &ToolCallBlock) -> WireCall<'_> {
    let function = WireFunction { name: &call.name, arguments: &call.arguments };
    WireCall { id: &call.id, r#type: "function", function }
}
