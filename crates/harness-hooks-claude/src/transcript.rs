//! The session as Claude Code would have written it: one compact JSON object a line. Made only when a hook runs.
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use harness_llm::{Block, Message};
use harness_session::{Body, Event, Seq, Session};
use serde_json::{Value, json};

use crate::alias::Aliases;

/// The file of one session and how far it goes.
#[derive(Debug)]
pub(crate) struct Transcript {
    path: PathBuf,
    next: Seq,
    last: Option<String>,
}

impl Transcript {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join("transcript.jsonl"), next: 0, last: None }
    }
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    /// Appends what the session has had since the last time; the first time the whole of it.
    pub(crate) fn flush(&mut self, session: &Session, aliases: &Aliases, cwd: &Path) -> std::io::Result<()> {
        let view = session.view();
        let mut text = String::new();
        for event in view.iter_from(self.next) {
            let Some((kind, content, id)) = self::line(&event, aliases, cwd) else { continue };
            let time = jiff::Timestamp::from_millisecond(event.time).unwrap_or_default();
            let object = json!({
                "parentUuid": self.last,
                "isSidechain": false,
                "type": kind,
                "message": { "role": kind, "content": content },
                "uuid": id,
                "timestamp": time.to_string(),
                "sessionId": session.id().to_string(),
                "cwd": cwd.to_string_lossy(),
            });
            text.push_str(&object.to_string());
            text.push('\n');
            self.last = Some(id);
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let fresh = self.next == 0;
        let mut file =
            OpenOptions::new().create(true).write(true).truncate(fresh).append(!fresh).open(&self.path)?;
        file.write_all(text.as_bytes())?;
        self.next = view.len();
        Ok(())
    }
}

fn line(event: &Event, aliases: &Aliases, cwd: &Path) -> Option<(&'static str, Value, String)> {
    let (kind, message): (_, &Message) = match &event.body {
        Body::UserMessage(user) => ("user", &user.message),
        Body::AssistantMessage(assistant) => ("assistant", &assistant.message),
        Body::ToolResult(result) => ("user", &result.message),
        _ => return None,
    };
    let content: Vec<Value> = message.content.iter().filter_map(|found| block(found, aliases, cwd)).collect();
    Some((kind, Value::Array(content), message.id.to_string()))
}

fn block(block: &Block, aliases: &Aliases, cwd: &Path) -> Option<Value> {
    Some(match block {
        Block::Text { text } => json!({ "type": "text", "text": text }),
        Block::Reasoning { text, .. } => json!({ "type": "thinking", "thinking": text }),
        Block::ToolCall(call) => {
            let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
            json!({
                "type": "tool_use",
                "id": call.id,
                "name": aliases.claude_name(&call.name),
                "input": aliases.to_claude(&call.name, &input, cwd, None),
            })
        }
        Block::ToolResult(result) => {
            let text: String = result.content.iter().filter_map(Block::as_text).collect();
            json!({
                "type": "tool_result",
                "tool_use_id": result.call_id,
                "content": [{ "type": "text", "text": text }],
                "is_error": result.is_error,
            })
        }
        _ => return None,
    })
}
