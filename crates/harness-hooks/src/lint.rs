//! Findings about entries that are legal but probably not meant so.
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::HookEvent;
use crate::diagnostic::Severity;
use crate::entry::HookEntry;
use crate::file::is_script;
use crate::handler::Handler;

/// Variables that many files on the net use and nobody sets.
const FOLK_VARIABLES: [&str; 5] = [
    "CLAUDE_FILE_PATHS",
    "CLAUDE_TOOL_NAME",
    "CLAUDE_TOOL_INPUT",
    "CLAUDE_TOOL_FILE_PATH",
    "CLAUDE_HOOK_DATA",
];
/// Tools that are no more.
const DEAD_TOOLS: [&str; 3] = ["MultiEdit", "NotebookRead", "LS"];
/// From here on a timeout looks like milliseconds.
const LONG_TIMEOUT_S: u64 = 1000;

/// Findings about a matcher.
pub(crate) fn matcher(text: Option<&str>, events: &[HookEvent]) -> Vec<(Severity, String)> {
    let mut found = Vec::new();
    let Some(text) = text.filter(|text| !matches!(*text, "" | "*")) else { return found };
    if events.iter().all(|event| event.info().subject.is_none()) {
        found.push((Severity::Warning, format!("this event has no matcher; `{text}` is ignored")));
        return found;
    }
    if events.iter().all(|event| !event.info().about_tool) {
        return found;
    }
    for name in text.split(['|', ',']).map(str::trim) {
        if let Some(server) = name.strip_prefix("mcp__")
            && !server.contains("__")
            && !server.contains('*')
        {
            let message =
                format!("`{name}` names a server, not a tool, and matches nothing; write `{name}__.*`");
            found.push((Severity::Warning, message));
        }
        if DEAD_TOOLS.contains(&name) {
            found.push((Severity::Info, format!("there is no tool `{name}` any more")));
        }
    }
    found
}

/// Findings about a handler.
pub(crate) fn entry(entry: &HookEntry) -> Vec<(Severity, String)> {
    let mut found = Vec::new();
    let mut warn = |message: String| found.push((Severity::Warning, message));
    if let Some(timeout) = entry.timeout
        && timeout.as_secs() >= LONG_TIMEOUT_S
    {
        warn(format!("`timeout` counts seconds: {} s are {} min", timeout.as_secs(), timeout.as_secs() / 60));
    }
    if entry.condition.is_some() && entry.events.iter().all(|event| !event.info().about_tool) {
        warn("`if` is for tool events; here the hook never runs".to_owned());
    }
    let Handler::Command(handler) = &entry.handler else { return found };
    let words = || std::iter::once(&handler.command).chain(handler.args.iter().flatten());
    for name in FOLK_VARIABLES {
        if words().any(|text| text.contains(name)) {
            warn(format!("nobody sets `{name}`; read the JSON on stdin instead"));
        }
    }
    let guards = entry.events.iter().any(|event| event.info().blocks);
    if guards
        && handler.args.is_none()
        && handler.command.split([';', '|', '&', '\n']).any(|part| part.trim() == "exit 1")
    {
        warn("`exit 1` blocks nothing; `exit 2` does".to_owned());
    }
    if let Some(fault) = script_fault(entry, &handler.command, handler.args.is_some()) {
        warn(fault);
    }
    found
}

/// Whether the first word is the path of a script that cannot run.
fn script_fault(entry: &HookEntry, command: &str, exec_form: bool) -> Option<String> {
    let first = if exec_form { command } else { command.split_whitespace().next()? };
    let first = first.trim_matches(['"', '\'']);
    let path = match (&entry.origin.plugin_root, first.split_once("CLAUDE_PLUGIN_ROOT")) {
        (Some(root), Some((_, rest))) => root.join(rest.trim_start_matches(['}', '"', '/'])),
        _ => Path::new(first).to_owned(),
    };
    if !path.is_absolute() || !is_script(&path) {
        return None;
    }
    match std::fs::metadata(&path) {
        Err(_) => Some(format!("the script {} does not exist", path.display())),
        Ok(facts) if facts.permissions().mode() & 0o111 == 0 => {
            Some(format!("the script {} is not executable; run `chmod +x`", path.display()))
        }
        Ok(_) => None,
    }
}
