//! A session log as text: what happened, one line an event, without ids and times.
use std::fmt::Write as _;

use harness_llm::{Block, MessageSource};
use harness_session::{Body, Event};

/// The whole log, noise included.
pub fn story<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    events.into_iter().fold(String::new(), |mut text, event| {
        let _ = writeln!(text, "{}", line(event));
        text
    })
}

/// One event.
pub fn line(event: &Event) -> String {
    let name = event.body.type_name();
    match &event.body {
        Body::TurnStart(start) => format!("{name} {}", start.turn),
        Body::StepStart(step) | Body::StepEnd(step) => format!("{name} {}.{}", step.turn, step.step),
        Body::TurnEnd(end) => {
            let reason = serde_json::to_value(&end.reason).unwrap();
            let code = reason.pointer("/failure/code").and_then(|code| code.as_str());
            let kind = reason["kind"].as_str().unwrap();
            format!("{name} {} {kind}{}", end.turn, code.map(|code| format!(" {code}")).unwrap_or_default())
        }
        Body::UserMessage(user) => {
            let who = match &user.message.source {
                MessageSource::User => "user".to_owned(),
                MessageSource::Plugin { plugin, .. } => plugin.clone(),
                other => format!("{other:?}"),
            };
            format!("{name} [{who}] {}", short(&user.message.text()))
        }
        Body::AssistantMessage(message) => {
            let calls: Vec<_> = message
                .message
                .tool_calls()
                .map(|call| format!(" {}({})", call.name, short(&call.arguments)))
                .collect();
            let interrupted = if message.interrupted { " interrupted" } else { "" };
            format!("{name}{interrupted} {}{}", short(&message.message.text()), calls.concat())
        }
        Body::ToolCall(call) => format!("{name} {} {}", call.name, short(&call.arguments)),
        Body::ToolResult(result) => {
            let code = result.error.as_ref().map_or("ok", |error| error.code.as_str());
            let text: String =
                result
                    .message
                    .content
                    .iter()
                    .flat_map(|block| {
                        if let Block::ToolResult(result) = block { result.content.as_slice() } else { &[] }
                    })
                    .filter_map(Block::as_text)
                    .collect();
            format!("{name} {code} {}", short(&text))
        }
        Body::AgentParked(parked) => format!("{name} {}", parked.pending),
        _ => name.to_owned(),
    }
}

fn short(text: &str) -> String {
    let text = text.replace('\n', "⏎");
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
