//! Reads one file. A broken entry is reported with its place and disables itself alone.
mod jsonc;

use std::path::Path;

use serde_json::{Map, Value};

use crate::diagnostic::{Diagnostic, Severity};
use crate::entry::{HookEntry, Origin};
use crate::lint;
use crate::matcher::{Matcher, MatcherStyle};
use crate::parse_handler::{EntrySite, entry};
use crate::{Dialect, HookEvent};

/// What a file says.
#[derive(Debug, Clone)]
pub struct HookFile {
    /// Where it came from.
    pub origin: Origin,
    /// Its hooks in the order of the file.
    pub entries: Vec<HookEntry>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// `disableAllHooks`.
    pub disable_all: Option<bool>,
    /// `allowManagedHooksOnly`.
    pub managed_only: Option<bool>,
    /// `allowedHttpHookUrls`.
    pub allowed_urls: Option<Vec<String>>,
    /// `httpHookAllowedEnvVars`.
    pub allowed_env: Option<Vec<String>>,
    /// The text as it was read, for trust.
    pub text: String,
}

impl HookFile {
    /// Reads a file from the disk; `None` if there is none.
    pub fn load(origin: Origin) -> Option<Self> {
        match std::fs::read(&origin.file) {
            Ok(bytes) => Some(Self::parse(origin, &String::from_utf8_lossy(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => None,
            Err(error) => {
                let mut file = Self::empty(origin, "");
                file.report(Severity::Error, "", None, format!("it cannot be read: {error}"));
                Some(file)
            }
        }
    }
    /// Reads a text.
    pub fn parse(origin: Origin, text: &str) -> Self {
        let mut file = Self::empty(origin, text);
        let text = text.trim_start_matches('\u{feff}');
        let parsed = match file.origin.dialect {
            Dialect::Opencode => serde_json::from_str::<Value>(&jsonc::plain(text)),
            _ => serde_json::from_str::<Value>(text),
        };
        match parsed {
            Ok(Value::Object(object)) => file.read(&object),
            Ok(_) => file.report(Severity::Error, "", None, "it is not a JSON object; none of its hooks run"),
            Err(error) => {
                let message = format!("it is not JSON ({error}); none of its hooks run");
                file.report(Severity::Error, "", None, message);
            }
        }
        file
    }
    /// A file that should be there and is not: without hooks, with an error that says so.
    pub fn absent(origin: Origin) -> Self {
        let mut file = Self::empty(origin, "");
        file.report(Severity::Error, "", None, "there is no such file");
        file
    }
    fn empty(origin: Origin, text: &str) -> Self {
        Self {
            origin,
            entries: Vec::new(),
            diagnostics: Vec::new(),
            disable_all: None,
            managed_only: None,
            allowed_urls: None,
            allowed_env: None,
            text: text.to_owned(),
        }
    }
    fn report(&mut self, severity: Severity, locator: &str, event: Option<&str>, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic {
            severity,
            file: self.origin.file.clone(),
            locator: locator.to_owned(),
            event: event.map(str::to_owned),
            message: message.into(),
        });
    }

    fn read(&mut self, object: &Map<String, Value>) {
        self.disable_all = self.flag(object, "disableAllHooks");
        self.managed_only = self.flag(object, "allowManagedHooksOnly");
        self.allowed_urls = self.list(object, "allowedHttpHookUrls");
        self.allowed_env = self.list(object, "httpHookAllowedEnvVars");
        let key = if self.origin.dialect == Dialect::Native { "events" } else { "hooks" };
        match object.get(key) {
            None => {}
            Some(Value::Object(events)) => {
                for (spelling, groups) in events {
                    self.read_event(key, spelling, groups);
                }
            }
            Some(_) => self.report(Severity::Error, key, None, "it must be an object of events"),
        }
    }
    fn flag(&mut self, object: &Map<String, Value>, key: &str) -> Option<bool> {
        let value = object.get(key)?;
        if value.as_bool().is_none() {
            self.report(Severity::Error, key, None, "it must be true or false; it is ignored");
        }
        value.as_bool()
    }
    fn list(&mut self, object: &Map<String, Value>, key: &str) -> Option<Vec<String>> {
        let value = object.get(key)?;
        let texts =
            value.as_array().and_then(|all| all.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
        if texts.is_none() {
            self.report(Severity::Error, key, None, "it must be a list of texts; nothing is allowed");
        }
        Some(texts.unwrap_or_default().into_iter().map(str::to_owned).collect())
    }

    fn read_event(&mut self, key: &str, spelling: &str, groups: &Value) {
        let at = format!("{key}[{spelling}]");
        let events = HookEvent::spelled_in(self.origin.dialect, spelling);
        if events.is_empty() {
            let whose = match self.origin.dialect {
                Dialect::Claude | Dialect::Native => String::new(),
                foreign => format!(" of {}", foreign.name()),
            };
            let message = format!("no event{whose} is called `{spelling}`; its hooks never run");
            return self.report(Severity::Warning, &at, Some(spelling), message);
        }
        let Some(groups) = groups.as_array() else {
            return self.report(Severity::Error, &at, Some(spelling), "it must be a list of groups");
        };
        for (number, group) in groups.iter().enumerate() {
            self.read_group(&format!("{at}[{number}]"), spelling, &events, number, group);
        }
    }

    fn read_group(&mut self, at: &str, spelling: &str, events: &[HookEvent], number: usize, group: &Value) {
        let Some(object) = group.as_object() else {
            return self.report(
                Severity::Error,
                at,
                Some(spelling),
                "a group must be an object with `hooks`",
            );
        };
        let text = match object.get("matcher") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.as_str()),
            Some(_) => {
                return self.report(
                    Severity::Error,
                    at,
                    Some(spelling),
                    "`matcher` must be a text; the group is disabled",
                );
            }
        };
        let has_subject = events.iter().any(|event| event.info().subject.is_some());
        // A matcher on an event that has none is ignored, as people write "" and "*" there.
        let parsed = if has_subject { Matcher::parse(text, self.style(events)) } else { Ok(Matcher::All) };
        let matcher = match parsed {
            Ok(matcher) => matcher,
            Err(error) => {
                return self.report(Severity::Error, at, Some(spelling), error.to_string());
            }
        };
        for (severity, message) in lint::matcher(text, events) {
            self.report(severity, at, Some(spelling), message);
        }
        let Some(handlers) = object.get("hooks").and_then(Value::as_array) else {
            return self.report(Severity::Error, at, Some(spelling), "`hooks` must be a list of handlers");
        };
        for (index, handler) in handlers.iter().enumerate() {
            let locator = format!("{at}.hooks[{index}]");
            let base =
                self.origin.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
            let id = format!("{}:{base}:{spelling}:{number}:{index}", self.origin.dialect.name());
            let site =
                EntrySite { id, locator, spelling, events, matcher: &matcher, text, origin: &self.origin };
            match entry(site, handler) {
                Ok((entry, remarks)) => {
                    for (severity, message) in remarks {
                        self.report(severity, &entry.locator, Some(spelling), message);
                    }
                    self.entries.push(entry);
                }
                Err(message) => {
                    let locator = format!("{at}.hooks[{index}]");
                    self.report(Severity::Error, &locator, Some(spelling), message);
                }
            }
        }
    }

    fn style(&self, events: &[HookEvent]) -> MatcherStyle {
        let narrow = |event| matches!(event, &HookEvent::FileChanged | &HookEvent::StopFailure);
        match self.origin.dialect {
            Dialect::Claude if events.iter().any(narrow) => MatcherStyle::ClaudeNarrow,
            Dialect::Claude => MatcherStyle::Claude,
            Dialect::Native => MatcherStyle::Literal,
            Dialect::Codex | Dialect::Opencode => MatcherStyle::Regex,
        }
    }
}

/// The name of a file, for messages.
pub(crate) fn is_script(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ["sh", "py", "js", "mjs", "ts", "rb", "pl"].iter().any(|e| ending == *e))
}
