//! The line protocol: one JSON request a line, one JSON response a line, in order.
use std::path::Path;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::HookEvent;
use crate::codec::clip;
use crate::dispatch::{Dispatch, Report};
use crate::engine::Engine;
use crate::place::Place;
use crate::set::HookSet;

/// What a request line is answered with.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Nothing: the line was blank.
    Nothing,
    /// This line.
    Line(Value),
    /// This line, and then the end.
    Bye(Value),
}

/// Serves the line protocol; a program feeds it lines and writes what it answers. Operations: `ping`, `dispatch`
/// (`event`, `payload`, `subject`, `cwd`), `reload`, `bye`. No line ends it but `bye`.
pub struct Listener {
    engine: Engine,
    place: Place,
    load: Box<dyn Fn() -> HookSet + Send + Sync>,
    set: HookSet,
}

impl Listener {
    /// A listener over hooks that `load` reads now and at each `reload`.
    pub fn new(engine: Engine, place: Place, load: impl Fn() -> HookSet + Send + Sync + 'static) -> Self {
        let set = load();
        Self { engine, place, load: Box::new(load), set }
    }
    /// The hooks in force.
    pub fn hooks(&self) -> &HookSet {
        &self.set
    }
    /// Answers one line.
    pub async fn answer(&mut self, line: &str, cancel: &CancellationToken) -> Reply {
        let line = line.trim();
        if line.is_empty() {
            return Reply::Nothing;
        }
        let request: Map<String, Value> = match serde_json::from_str(line) {
            Ok(request) => request,
            Err(error) => {
                return refuse(&format!("the line is not a JSON object: {}", clip(&error.to_string())));
            }
        };
        match request.get("op").and_then(Value::as_str) {
            Some("ping") => Reply::Line(json!({ "ok": true, "pong": true })),
            Some("reload") => {
                self.set = (self.load)();
                Reply::Line(json!({ "ok": true, "diagnostics": self.set.diagnostics() }))
            }
            Some("bye") => Reply::Bye(json!({ "ok": true })),
            Some("dispatch") => match self.dispatch(&request, cancel).await {
                Ok(response) => Reply::Line(response),
                Err(error) => refuse(&error),
            },
            Some(other) => refuse(&format!("unknown op `{}` (ping, dispatch, reload, bye)", clip(other))),
            None => refuse("`op` is missing"),
        }
    }

    async fn dispatch(
        &self,
        request: &Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<Value, String> {
        let text = |key: &str| match request.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(format!("`{key}` must be a text")),
        };
        let event = text("event")?.ok_or("`event` is missing")?;
        let payload = match request.get("payload") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(payload)) => payload.clone(),
            Some(_) => return Err("`payload` must be an object".to_owned()),
        };
        let report = self.run(event, payload, text("subject")?, text("cwd")?.map(Path::new), cancel).await?;
        let canonical = HookEvent::spelled(event).first().and_then(|event| event.info().canonical);
        Ok(json!({
            "ok": true,
            "canonical": canonical.unwrap_or(event),
            "outcome": report.outcome,
            "runs": report.runs,
        }))
    }

    /// Dispatches one event by any of its names. Hooks that an event does not wait for are run to their end, too.
    ///
    /// # Errors
    /// If no event has this name.
    pub async fn run(
        &self,
        event: &str,
        mut payload: Map<String, Value>,
        subject: Option<&str>,
        cwd: Option<&Path>,
        cancel: &CancellationToken,
    ) -> Result<Report, String> {
        let events = HookEvent::spelled(event);
        let Some(first) = events.first().copied() else {
            return Err(format!("unknown event `{}`", clip(event)));
        };
        let mut place = self.place.clone();
        if let Some(cwd) = cwd {
            place.cwd = self.place.cwd.join(cwd);
            place.project.clone_from(&place.cwd);
        }
        payload.entry("cwd").or_insert_with(|| folder(&place.cwd).into());
        payload.entry("permission_mode").or_insert_with(|| "default".into());
        let mut dispatch = Dispatch::new(first, payload, place);
        dispatch.events = events;
        if let Some(subject) = subject {
            dispatch.subjects = vec![subject.to_owned()];
        } else if dispatch.subjects.is_empty() {
            let found =
                ["tool_name", "tool", "name"].iter().find_map(|key| dispatch.payload.get(*key)?.as_str());
            dispatch.subjects.extend(found.map(str::to_owned));
        }
        let mut report = self.engine.dispatch(&self.set, &dispatch, cancel).await;
        for (entry, event) in std::mem::take(&mut report.background) {
            report.runs.push(self.engine.run_one(&self.set, &entry, event, &dispatch, cancel).await);
        }
        Ok(report)
    }
}

fn folder(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(crate) fn refuse(error: &str) -> Reply {
    Reply::Line(json!({ "ok": false, "error": error }))
}
