//! One configured hook.
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::{Condition, ToolFacts};
use crate::handler::{Handler, HandlerKind, OnError, Waiting};
use crate::matcher::{Matcher, MatcherStyle};
use crate::{Dialect, HookEvent, Profile};

/// Which kind of place a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The person's own settings.
    User,
    /// The project's settings, as everybody gets them.
    Project,
    /// The person's settings for this project.
    Local,
    /// A file that was named on the command line.
    Flag,
    /// The administrator's settings, which nobody else can turn off.
    Managed,
    /// A plugin.
    Plugin,
}

/// Where a hook was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub dialect: Dialect,
    /// Its kind.
    pub scope: Scope,
    /// The plugin's folder, for hooks of a plugin.
    pub plugin_root: Option<PathBuf>,
    /// The plugin's folder for data.
    pub plugin_data: Option<PathBuf>,
}
impl Origin {
    /// A file whose format its name tells.
    pub fn of(file: impl Into<PathBuf>, scope: Scope) -> Self {
        let file = file.into();
        let dialect =
            file.file_name().map_or(Dialect::Claude, |name| Dialect::of_file(&name.to_string_lossy()));
        Self { file, dialect, scope, plugin_root: None, plugin_data: None }
    }
    /// The same in another format.
    #[must_use]
    pub fn in_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }
}

/// A hook that can run.
#[derive(Debug, Clone)]
pub struct HookEntry {
    /// `dialect:file:event:group:index`.
    pub id: String,
    /// Where it was written down.
    pub origin: Origin,
    /// Where in the file, such as `hooks[PreToolUse][1].hooks[0]`.
    pub locator: String,
    /// The event's name as written.
    pub spelling: String,
    /// The events that this name means.
    pub events: Vec<HookEvent>,
    /// The matcher as written.
    pub matcher_text: Option<String>,
    /// Which subjects it is for.
    pub matcher: Matcher,
    /// Which calls it is for, more closely.
    pub condition: Option<Condition>,
    /// What it does.
    pub handler: Handler,
    /// How long it may take, if the file says so.
    pub timeout: Option<Duration>,
    /// What its failure means, if the file says so.
    pub on_error: Option<OnError>,
    /// Whether the event waits for it.
    pub waiting: Waiting,
    /// What to show while it runs.
    pub status_message: Option<String>,
}

impl HookEntry {
    /// Which of the dispatched events it is for.
    pub fn event_of(&self, dispatched: &[HookEvent]) -> Option<HookEvent> {
        dispatched.iter().copied().find(|event| self.events.contains(event))
    }
    /// Whether it is for this subject and call. `if` rules hold on tool events only; on any other event a hook with
    /// one never runs. The native contract does not look at them, and reads the matchers of its own files and of
    /// Claude's as lists of names.
    pub fn wants(
        &self,
        event: HookEvent,
        subjects: &[&str],
        tool: Option<ToolFacts<'_>>,
        profile: Profile,
    ) -> bool {
        let subjects = if event.info().subject.is_some() { subjects } else { &[] };
        let holds = |rule: &Condition| tool.is_some_and(|call| rule.holds(call));
        let literal =
            profile == Profile::Native && matches!(self.origin.dialect, Dialect::Claude | Dialect::Native);
        let fits = if literal {
            let names = Matcher::parse(self.matcher_text.as_deref(), MatcherStyle::Literal);
            names.is_ok_and(|matcher| matcher.matches(subjects))
        } else {
            self.matcher.matches(subjects)
        };
        fits && (profile == Profile::Native || self.condition.as_ref().is_none_or(holds))
    }
    /// What it is called in reports.
    pub fn reference(&self) -> HookRef {
        HookRef {
            id: self.id.clone(),
            dialect: self.origin.dialect,
            event: self.spelling.clone(),
            kind: self.handler.kind(),
            matcher: self.matcher_text.clone(),
        }
    }
    /// Whether two entries are the same hook found twice. Copies of different plugins are not.
    pub fn repeats(&self, other: &Self) -> bool {
        let alike = self.handler == other.handler && self.condition == other.condition;
        alike && self.origin.plugin_root == other.origin.plugin_root && self.events == other.events
    }
}

/// A hook's name and nature, for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookRef {
    /// `dialect:file:event:group:index`.
    pub id: String,
    /// The format of its file.
    pub dialect: Dialect,
    /// The event's name as written.
    pub event: String,
    /// What it does.
    pub kind: HandlerKind,
    /// The matcher as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
}
