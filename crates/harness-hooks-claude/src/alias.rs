//! Names and input keys of tools, both ways, as data.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// One tool under both names.
struct Row {
    ours: &'static str,
    claude: &'static str,
    /// Names that matchers of older files use.
    legacy: &'static [&'static str],
    /// Keys that differ: ours, Claude's.
    keys: &'static [(&'static str, &'static str)],
    /// Claude's keys that are paths, which hooks get absolute.
    paths: &'static [&'static str],
}

const NO_KEYS: &[(&str, &str)] = &[];

const TABLE: [Row; 17] = [
    row("bash", "Bash", &[], &[("timeoutMs", "timeout")], &[]),
    row("read", "Read", &[], NO_KEYS, &["file_path"]),
    row("write", "Write", &[], NO_KEYS, &["file_path"]),
    row("edit", "Edit", &[], NO_KEYS, &["file_path"]),
    row("glob", "Glob", &[], NO_KEYS, &["path"]),
    row("grep", "Grep", &[], NO_KEYS, &["path"]),
    row("notebook_edit", "NotebookEdit", &[], NO_KEYS, &["notebook_path"]),
    row("web_fetch", "WebFetch", &[], NO_KEYS, &[]),
    row("web_search", "WebSearch", &[], NO_KEYS, &[]),
    row("subagent", "Agent", &["Task"], NO_KEYS, &[]),
    row("todo_write", "TodoWrite", &[], NO_KEYS, &[]),
    row("job_output", "BashOutput", &[], NO_KEYS, &[]),
    row("job_kill", "TaskStop", &["KillShell", "KillBash"], NO_KEYS, &[]),
    row("ask_user", "AskUserQuestion", &[], NO_KEYS, &[]),
    row("exit_plan_mode", "ExitPlanMode", &[], NO_KEYS, &[]),
    row("list_mcp_resources", "ListMcpResources", &["ListMcpResourcesTool"], NO_KEYS, &[]),
    row("read_mcp_resource", "ReadMcpResource", &["ReadMcpResourceTool", "ReadMcpResourceDir"], NO_KEYS, &[]),
];

const fn row(
    ours: &'static str,
    claude: &'static str,
    legacy: &'static [&'static str],
    keys: &'static [(&'static str, &'static str)],
    paths: &'static [&'static str],
) -> Row {
    Row { ours, claude, legacy, keys, paths }
}

/// The table with the person's additions.
#[derive(Debug, Clone, Default)]
pub struct Aliases {
    more: BTreeMap<String, String>,
}

impl Aliases {
    /// The built-in table, with these names by our names on top.
    pub fn new(more: BTreeMap<String, String>) -> Self {
        Self { more }
    }
    /// Claude Code's name of a tool; a tool that it does not know keeps ours.
    pub fn claude_name<'a>(&'a self, ours: &'a str) -> &'a str {
        self.more.get(ours).map_or_else(|| find(ours).map_or(ours, |row| row.claude), String::as_str)
    }
    /// Every name under which a matcher may mean the tool, Claude Code's first.
    pub fn names(&self, ours: &str) -> Vec<String> {
        let mut names = vec![self.claude_name(ours).to_owned()];
        names.extend(find(ours).iter().flat_map(|row| row.legacy).map(|name| (*name).to_owned()));
        if !names.iter().any(|name| name == ours) {
            names.push(ours.to_owned());
        }
        names
    }
    /// A tool's input as hooks read it: Claude Code's keys, paths absolute.
    pub fn to_claude(&self, ours: &str, input: &Value, cwd: &Path, home: Option<&Path>) -> Value {
        let Some(object) = input.as_object() else { return input.clone() };
        let Some(row) = find(ours) else { return input.clone() };
        let rename = |key: &str| row.keys.iter().find(|(ours, _)| *ours == key).map(|(_, claude)| *claude);
        let mut out = Map::new();
        for (key, value) in object {
            let key = rename(key).unwrap_or(key);
            let value = match value.as_str() {
                Some(text) if row.paths.contains(&key) => absolute(text, cwd, home).into(),
                _ => value.clone(),
            };
            out.insert(key.to_owned(), value);
        }
        Value::Object(out)
    }
    /// A tool's input as the tool reads it.
    pub fn from_claude(&self, ours: &str, input: Map<String, Value>) -> Value {
        let Some(row) = find(ours) else { return Value::Object(input) };
        let rename = |key: &str| row.keys.iter().find(|(_, claude)| *claude == key).map(|(ours, _)| *ours);
        let renamed = input.into_iter().map(|(key, value)| (rename(&key).map_or(key, str::to_owned), value));
        Value::Object(renamed.collect())
    }
}

fn find(ours: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.ours == ours)
}

fn absolute(text: &str, cwd: &Path, home: Option<&Path>) -> String {
    let path = match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => cwd.join(text),
    };
    // `.` and `..` away, without looking at the disk: guards compare texts.
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean.to_string_lossy().into_owned()
}
