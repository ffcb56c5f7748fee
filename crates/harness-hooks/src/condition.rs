//! `if` rules: `Tool(pattern)` over one tool call.
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use crate::shell_words::{Script, wildcard};

/// A rule that was read.
#[derive(Debug, Clone)]
pub struct Condition {
    tool: String,
    pattern: Option<String>,
    /// The pattern as one of paths: the thing itself, and what is in it.
    globs: Vec<GlobMatcher>,
}
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        (&self.tool, &self.pattern) == (&other.tool, &other.pattern)
    }
}
impl Eq for Condition {}

/// A rule that is not `Tool` or `Tool(pattern)`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`if` must be a permission rule such as `Bash(git *)`, not `{0}`; the hook is disabled")]
pub struct ConditionError(pub String);

/// The call that a rule is asked about, in the names of the hook's own system.
#[derive(Debug, Clone, Copy)]
pub struct ToolFacts<'a> {
    /// The tool.
    pub name: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// Where relative paths start.
    pub cwd: &'a Path,
    /// The folder of the settings, which `/` means.
    pub root: &'a Path,
    /// What `~` means.
    pub home: Option<&'a Path>,
}

impl Condition {
    /// Reads a rule.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let fault = || ConditionError(text.to_owned());
        let name = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-*.".contains(c))
        };
        let text = text.trim();
        match text.split_once('(') {
            None if name(text) => Ok(Self { tool: text.to_owned(), pattern: None, globs: Vec::new() }),
            Some((tool, rest)) if name(tool) => {
                let pattern = rest.strip_suffix(')').ok_or_else(fault)?;
                let pattern = Some(pattern.to_owned()).filter(|pattern| !matches!(&**pattern, "" | "*"));
                let globs = pattern.as_deref().map(globs).unwrap_or_default();
                Ok(Self { tool: tool.to_owned(), pattern, globs })
            }
            _ => Err(fault()),
        }
    }
    /// Whether the call is one of those that the rule means. A command that cannot be taken apart counts.
    pub fn holds(&self, call: ToolFacts<'_>) -> bool {
        let edits = self.tool == "Edit" && matches!(call.name, "Edit" | "Write" | "NotebookEdit");
        if !edits && !wildcard(&self.tool, call.name) {
            return false;
        }
        let Some(pattern) = &self.pattern else { return true };
        let field = |name: &str| call.input.get(name).and_then(Value::as_str);
        if let Some(command) = field("command") {
            return command_fits(pattern, command);
        }
        if let Some(path) = field("file_path").or_else(|| field("notebook_path")).or_else(|| field("path")) {
            return self.path_fits(pattern, path, call);
        }
        if let Some(host) = pattern.strip_prefix("domain:") {
            return field("url").and_then(host_of).is_some_and(|found| wildcard(host, found));
        }
        ["url", "query", "pattern", "subagent_type"]
            .iter()
            .find_map(|name| field(name))
            .is_some_and(|value| wildcard(pattern, value))
    }
    fn path_fits(&self, pattern: &str, path: &str, call: ToolFacts<'_>) -> bool {
        let path = call.cwd.join(path);
        let base = match pattern {
            _ if pattern.starts_with("//") => Path::new("/"),
            _ if pattern.starts_with("~/") => match call.home {
                Some(home) => home,
                None => return false,
            },
            _ if pattern.starts_with('/') => call.root,
            _ => call.cwd,
        };
        let below = path.strip_prefix(base);
        below.is_ok_and(|below| self.globs.iter().any(|glob| glob.is_match(below)))
    }
}

fn command_fits(pattern: &str, command: &str) -> bool {
    let Some(script) = Script::parse(command) else { return true };
    let word_end = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *"));
    let fits = |command: &String| match word_end {
        Some(prefix) => wildcard(prefix, command) || wildcard(&format!("{prefix} *"), command),
        None => wildcard(pattern, command),
    };
    // What a substitution runs is not known: a rule about more than a command's name could be meant.
    let dynamic = script.dynamic && word_end.unwrap_or(pattern).trim().contains(' ');
    dynamic || script.commands.iter().any(fits)
}

/// A pattern of paths below its base, as in a gitignore file: a name without a slash fits at any depth, and a folder
/// covers what is in it. What is no pattern fits nothing.
fn globs(pattern: &str) -> Vec<GlobMatcher> {
    let rest = ["//", "~/", "/", "./"].iter().find_map(|base| pattern.strip_prefix(base)).unwrap_or(pattern);
    let rest = rest.trim_end_matches('/');
    let anywhere = !rest.contains('/') && !pattern.starts_with(['/', '~']);
    let stem = if anywhere { format!("**/{rest}") } else { rest.to_owned() };
    let within = format!("{stem}/**");
    let compiled =
        [stem, within].into_iter().map(|glob| GlobBuilder::new(&glob).literal_separator(true).build());
    compiled.flatten().map(|glob| glob.compile_matcher()).collect()
}

fn host_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.split(':').next().unwrap_or(host))
}
