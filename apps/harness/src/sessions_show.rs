//! A session as a transcript for people.
use std::fmt::Write as _;
use std::sync::Arc;

use harness_llm::{Block, Message, MessageSource};
use harness_session::{Body, Event, SessionHeader, SurfaceOp, TurnEndReason};

use crate::render::call_line;
use crate::summary::amount;

/// Longest shown part of one result, in lines.
const RESULT_LINES: usize = 12;

pub(crate) fn transcript(header: &SessionHeader, events: &[Arc<Event>]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "session {}", header.id);
    if let Some(cwd) = &header.cwd {
        let _ = writeln!(text, "folder  {cwd}");
    }
    for event in events.iter().filter(|event| !matches!(event.surface, Some(SurfaceOp::Replace(..)))) {
        // What the person saw: appended events only, never what a compaction put in their place.
        match &event.body {
            Body::TurnStart(start) => {
                let _ = writeln!(text, "\n── turn {} ──", start.turn);
            }
            Body::TurnEnd(end) => {
                let _ = writeln!(text, "── {} ──", reason(&end.reason));
            }
            Body::UserMessage(user) => {
                let _ = writeln!(text, "\n{}: {}", speaker(&user.message), plain(&user.message.text()));
            }
            Body::AssistantMessage(message) => {
                let said = message.message.text();
                if !said.is_empty() {
                    let cut = if message.interrupted { " (interrupted)" } else { "" };
                    let _ = writeln!(text, "\nassistant{cut}: {}", plain(&said));
                }
            }
            Body::ToolCall(call) => {
                let _ = writeln!(text, "\n{}", call_line(call));
            }
            Body::ToolResult(result) => shown(&mut text, &result.message),
            _ => {}
        }
    }
    text
}

fn speaker(message: &Message) -> String {
    match &message.source {
        MessageSource::User => "you".to_owned(),
        MessageSource::Plugin { plugin, .. } => format!("[{plugin}]"),
        _ => "[other]".to_owned(),
    }
}

fn shown(text: &mut String, message: &Message) {
    for block in &message.content {
        let Block::ToolResult(result) = block else { continue };
        let content: String = result.content.iter().filter_map(Block::as_text).collect();
        let mut lines = content.lines();
        for line in lines.by_ref().take(RESULT_LINES) {
            let _ = writeln!(text, "  │ {}", plain(line));
        }
        let more = lines.count();
        if more > 0 {
            let _ = writeln!(text, "  │ … ({more} more lines)");
        }
    }
}

fn reason(reason: &TurnEndReason) -> String {
    match reason {
        TurnEndReason::Completed => "completed".to_owned(),
        TurnEndReason::Aborted { .. } => "cancelled".to_owned(),
        TurnEndReason::Blocked { reason } => {
            format!("blocked: {}", reason.as_deref().unwrap_or("by a policy"))
        }
        TurnEndReason::Stopped { reason } => format!("stopped: {reason}"),
        TurnEndReason::Error { failure } => format!("failed: {failure}"),
        TurnEndReason::MaxTokens => "cut off at the output limit".to_owned(),
        TurnEndReason::Budget { budget, limit } => format!("budget of {} used up", amount(budget, *limit)),
        TurnEndReason::Interrupted => "interrupted: the process ended".to_owned(),
        other => format!("{other:?}"),
    }
}

/// What a model or a tool said must not drive the terminal.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
