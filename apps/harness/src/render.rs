//! Shows a run while it happens: text as it streams, a line for each tool call.
use std::sync::Arc;

use harness_compact::{CompactEnd, CompactOutcome};
use harness_llm::Chunk;
use harness_retry::RetryScheduled;
use harness_session::{Body, Event, Form, LiveChunk, LiveError, LiveReceiver, Step, ToolCall, encode_event};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::output::Output;
use crate::repeats::{Repeats, Told};

/// What the renderer is told, in commit order.
#[derive(Debug)]
pub(crate) enum Seen {
    /// An event was committed.
    Event(Arc<Event>),
    /// Something to tell the person.
    Note(String),
}

/// Longest line about a tool call, in characters.
const LINE: usize = 110;

/// Renders text for people.
pub(crate) struct TextRenderer {
    output: Arc<Output>,
    /// The attempt whose text is on the screen, and how many bytes of it.
    shown: Option<(Step, u32, usize)>,
    /// What the failed attempts before this one said, while this one says the same: it is not said twice.
    repeats: Repeats,
    /// Live chunks were missed: the log has the rest.
    behind: bool,
    /// The cursor is not at the start of a line.
    midline: bool,
}

impl TextRenderer {
    pub(crate) fn new(output: Arc<Output>) -> Self {
        Self { output, shown: None, repeats: Repeats::default(), behind: false, midline: false }
    }
    /// Runs until the channel closes.
    pub(crate) async fn run(mut self, mut live: LiveReceiver, mut seen: UnboundedReceiver<Seen>) {
        let mut open = true;
        loop {
            self.output.room().await;
            tokio::select! {
                biased;
                chunk = live.next(), if open => match chunk {
                    Ok(chunk) => self.chunk(&chunk),
                    Err(LiveError::Missed(_)) => self.behind = true,
                    Err(LiveError::Closed) => open = false,
                },
                item = seen.recv() => match item {
                    Some(Seen::Event(event)) => {
                        while let Some(Ok(chunk)) = live.try_next() {
                            self.chunk(&chunk);
                        }
                        self.event(&event);
                    }
                    Some(Seen::Note(note)) => self.talk(&note),
                    None => break,
                },
            }
        }
        self.end_line();
    }

    fn chunk(&mut self, live: &LiveChunk) {
        let Chunk::TextDelta { text, .. } = &*live.chunk else { return };
        let at = (live.at, live.attempt);
        if self.shown.is_none_or(|(step, attempt, _)| (step, attempt) != at) {
            let again = self.shown.is_some_and(|(step, _, _)| step == live.at);
            self.repeats.attempt(again);
            if !again {
                self.end_line();
            }
            self.shown = Some((live.at, live.attempt, 0));
        }
        if !self.behind {
            self.text(text);
        }
    }
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some((_, _, bytes)) = &mut self.shown {
            *bytes += text.len();
        }
        match self.repeats.new_part(text) {
            Told::Nothing => {}
            Told::More(text) => self.write(&text),
            Told::Anew(text) => {
                self.end_line();
                self.write(&text);
            }
        }
    }
    fn write(&mut self, text: &str) {
        if !text.is_empty() {
            self.output.data(text);
            self.midline = !text.ends_with('\n');
        }
    }
    fn event(&mut self, event: &Event) {
        match &event.body {
            Body::AssistantMessage(message) => {
                let text = message.message.text();
                let same = |(step, attempt, _): &(Step, u32, usize)| {
                    (*step, *attempt) == (message.at, message.attempt)
                };
                let shown = self.shown.filter(same).map_or(0, |(_, _, bytes)| bytes);
                if let Some(rest) = text.get(shown..) {
                    self.text(rest);
                }
                if let Some(text) = self.repeats.finish() {
                    self.end_line();
                    self.write(&text);
                }
                self.end_line();
                self.shown = None;
                self.behind = false;
            }
            Body::ToolCall(call) => self.talk(&call_line(call)),
            Body::ToolResult(result) => {
                if let Some(error) = &result.error {
                    self.talk(&clip(&format!("  ✗ {} [{}]", first_line(&error.message), error.code)));
                }
            }
            Body::Plugin(data) => {
                if let Some(Ok(retry)) = data.read::<RetryScheduled>() {
                    // Standard output stays as it is: the next attempt may go on in the middle of its line.
                    self.output.talk(&retry_line(&retry));
                } else if let Some(Ok(CompactEnd { outcome, .. })) = data.read() {
                    self.talk(&compacted_line(&outcome));
                }
            }
            _ => {}
        }
    }
    fn talk(&mut self, line: &str) {
        self.end_line();
        self.output.talk(line);
    }
    fn end_line(&mut self) {
        if std::mem::take(&mut self.midline) {
            self.output.data("\n");
        }
    }
}

/// Renders events for programs: each as logged, spelt out, one a line.
pub(crate) async fn json(output: Arc<Output>, mut seen: UnboundedReceiver<Seen>) {
    while let Some(item) = seen.recv().await {
        output.room().await;
        match item {
            Seen::Event(event) => match encode_event(&event, Form::Full) {
                Ok(line) => output.data(&(line + "\n")),
                Err(error) => output.talk(&format!("harness: event {} is not JSON: {error}", event.seq)),
            },
            Seen::Note(note) => output.talk(&note),
        }
    }
}

/// One line about a compaction.
fn compacted_line(outcome: &CompactOutcome) -> String {
    match outcome {
        CompactOutcome::Done { after, .. } => {
            format!(
                "harness: older history was replaced by a summary; the next request has about {after} tokens"
            )
        }
        CompactOutcome::Failed { code, message } => format!("harness: {message} [{code}]"),
    }
}

/// One line about a retry.
fn retry_line(retry: &RetryScheduled) -> String {
    let RetryScheduled { code, retry: number, max_retries, wait_ms, .. } = retry;
    let (seconds, tenths) = (wait_ms / 1000, wait_ms % 1000 / 100);
    format!(
        "harness: the model call failed [{code}]; retry {number} of {max_retries} in {seconds}.{tenths} s"
    )
}

/// One line about a call: the tool and what it is called with.
pub(crate) fn call_line(call: &ToolCall) -> String {
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let subject = ["command", "file_path"]
        .iter()
        .find_map(|key| arguments.get(key)?.as_str())
        .map_or_else(|| call.arguments.clone(), first_line);
    clip(&format!("• {} {subject}", call.name))
}
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
fn clip(line: &str) -> String {
    // What a model or a tool says must not drive the terminal.
    let mut plain: String = line.chars().filter(|c| !c.is_control()).collect();
    if let Some((at, _)) = plain.char_indices().nth(LINE) {
        plain.truncate(at);
        plain.push('…');
    }
    plain
}
