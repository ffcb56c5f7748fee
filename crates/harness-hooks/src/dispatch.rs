//! What is dispatched, and what is reported of it.
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::condition::ToolFacts;
use crate::entry::{HookEntry, HookRef};
use crate::fault::Fault;
use crate::fold::Outcome;
use crate::place::Place;
use crate::{Dialect, HookEvent};

/// An event that happens.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// The event; two for the canonical `tool:after`.
    pub events: Vec<HookEvent>,
    /// The names under which matchers may know the subject; the first is the one of the payload.
    pub subjects: Vec<String>,
    /// What hooks read on stdin, without the event's name.
    pub payload: Map<String, Value>,
    /// Where they run.
    pub place: Place,
}

impl Dispatch {
    /// An event whose subject is what its payload says.
    pub fn new(event: HookEvent, payload: Map<String, Value>, place: Place) -> Self {
        let subject = event.info().subject.and_then(|field| payload.get(field)).and_then(Value::as_str);
        let subject = subject.map(|text| match event {
            // Watched files are named, not placed.
            HookEvent::FileChanged => Path::new(text)
                .file_name()
                .map_or_else(|| text.to_owned(), |name| name.to_string_lossy().into()),
            _ => text.to_owned(),
        });
        Self { events: vec![event], subjects: subject.into_iter().collect(), payload, place }
    }
    /// The first event.
    pub fn event(&self) -> HookEvent {
        self.events.first().copied().unwrap_or(HookEvent::Notification)
    }
    /// The subject's names.
    pub fn subjects(&self) -> Vec<&str> {
        self.subjects.iter().map(String::as_str).collect()
    }
    /// The call that this is about, for `if` rules.
    pub fn tool(&self) -> Option<ToolFacts<'_>> {
        static NOTHING: Value = Value::Null;
        self.event().info().about_tool.then(|| ToolFacts {
            name: self.payload.get("tool_name").and_then(Value::as_str).unwrap_or_default(),
            input: self.payload.get("tool_input").unwrap_or(&NOTHING),
            cwd: &self.place.cwd,
            root: &self.place.project,
            home: self.place.home.as_deref(),
        })
    }
    /// What one hook reads: the payload under the event's name in the hook's own dialect, without a line break.
    pub(crate) fn text_for(&self, entry: &HookEntry, event: HookEvent) -> String {
        let mut object = Map::new();
        if entry.origin.dialect == Dialect::Native {
            object.insert("event".to_owned(), entry.spelling.clone().into());
            object.insert("ts".to_owned(), now().into());
        } else {
            for field in ["session_id", "transcript_path", "cwd"] {
                object.insert(field.to_owned(), Value::from(""));
            }
        }
        for (name, value) in &self.payload {
            object.insert(name.clone(), value.clone());
        }
        if entry.origin.dialect == Dialect::Native {
            object.shift_remove("hook_event_name");
        } else {
            let canonical = event.info().canonical == Some(&*entry.spelling);
            let name = if canonical { event.name() } else { &entry.spelling };
            object.insert("hook_event_name".to_owned(), name.into());
        }
        Value::Object(object).to_string()
    }
}

/// The time as ISO 8601 in UTC.
fn now() -> String {
    jiff::Timestamp::now().to_string()
}

/// One hook that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// The hook.
    pub hook: HookRef,
    /// The event that it was for.
    pub event: HookEvent,
    /// What it came to.
    pub outcome: RunOutcome,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Why it could not do its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
    /// What the person should be told of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What one hook came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunOutcome {
    /// Exit code of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The beginning of what it complained about.
    #[serde(default)]
    pub stderr: String,
    /// The beginning of what it printed.
    #[serde(default)]
    pub stdout: String,
    /// What was understood.
    #[serde(flatten)]
    pub answer: Answer,
    /// Whether processes that it started go on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_behind: bool,
}

/// What a dispatch came to.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The one decision.
    pub outcome: Outcome,
    /// The hooks that were awaited, in the order of the configuration.
    pub runs: Vec<Run>,
    /// Hooks that the event does not wait for; run them with [`crate::Engine::run_one`] beside the work.
    pub background: Vec<(HookEntry, HookEvent)>,
}
impl Report {
    /// What the person should be told: infrastructure failures and doubtful answers.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().flat_map(|run| run.warnings.iter().map(String::as_str))
    }
}
