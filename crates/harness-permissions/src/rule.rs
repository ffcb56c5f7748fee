//! One rule: a tool, and optionally a pattern for what it is called with.
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use globset::{Glob, GlobMatcher};
use harness_tools::ToolCall;

/// A rule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "permission rule `{rule}` is not legal: {problem}; write `tool` or `tool(pattern)`, for example `bash(git *)`"
)]
pub struct RuleError {
    /// The rule as written.
    pub rule: String,
    /// What is wrong.
    pub problem: String,
}

/// `tool` or `tool(pattern)`. The pattern is a glob over the command of `bash`, the path of a file tool (as given and
/// as an absolute path), or the JSON text of any other tool's arguments. `*` also matches `/`.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    tool: String,
    pattern: Option<GlobMatcher>,
}

impl FromStr for Rule {
    type Err = RuleError;
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let error = |problem: &str| RuleError { rule: text.to_owned(), problem: problem.to_owned() };
        let trimmed = text.trim();
        let (tool, pattern) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let pattern = rest.strip_suffix(')').ok_or_else(|| error("the closing `)` is missing"))?;
                if pattern.is_empty() {
                    return Err(error("the pattern is empty"));
                }
                let glob = Glob::new(pattern).map_err(|bad| error(&bad.to_string()))?;
                (tool, Some(glob.compile_matcher()))
            }
        };
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '*';
        if tool.is_empty() || !tool.chars().all(legal) {
            return Err(error("the tool's name is missing or has illegal characters"));
        }
        Ok(Self { text: trimmed.to_owned(), tool: tool.to_owned(), pattern })
    }
}
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How a rule looks at a command line: an allowance must cover all of it, a denial any part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Whole,
    AnyPart,
}

impl Rule {
    /// The tool's name, if the rule covers every call of exactly one tool.
    pub(crate) fn whole_tool(&self) -> Option<&str> {
        (self.pattern.is_none() && self.tool != "*").then_some(self.tool.as_str())
    }
    /// The folder outside of which no file that the rule lets be written can lie, if the pattern is absolute.
    ///
    /// `write(/data/out/*.csv)` gives `/data/out`; a pattern without wildcards gives the file itself.
    pub fn write_root(&self) -> Option<PathBuf> {
        let pattern = self.text.strip_prefix("write(").or_else(|| self.text.strip_prefix("edit("))?;
        let pattern = pattern.strip_suffix(')').filter(|pattern| pattern.starts_with('/'))?;
        let fixed = match pattern.find(['*', '?', '[', '{', '\\']) {
            None => pattern,
            Some(wild) => &pattern[..pattern[..wild].rfind('/')?],
        };
        // The whole file system is never meant: `write_outside` says that.
        let root = normalise(Path::new(fixed));
        (root.components().count() > 1).then_some(root)
    }
    pub(crate) fn matches(&self, call: &ToolCall, reach: Reach) -> bool {
        if self.tool != "*" && self.tool != call.name() {
            return false;
        }
        let Some(pattern) = &self.pattern else { return true };
        let argument = |key: &str| call.arguments().get(key).and_then(serde_json::Value::as_str);
        if let Some(command) = argument("command") {
            let parts = parts(command);
            return match reach {
                Reach::AnyPart => {
                    pattern.is_match(command) || parts.iter().any(|part| pattern.is_match(part))
                }
                Reach::Whole => !parts.is_empty() && parts.iter().all(|part| pattern.is_match(part)),
            };
        }
        if let Some(path) = argument("file_path") {
            let absolute = normalise(&call.cwd().join(path));
            let inside = absolute.strip_prefix(normalise(call.cwd())).map(Path::to_path_buf);
            return match reach {
                Reach::AnyPart => {
                    pattern.is_match(path)
                        || pattern.is_match(&absolute)
                        || inside.is_ok_and(|p| pattern.is_match(p))
                }
                Reach::Whole => pattern.is_match(&absolute) || inside.is_ok_and(|p| pattern.is_match(p)),
            };
        }
        pattern.is_match(call.arguments_text())
    }
}

/// The simple commands of a command line, as far as operators tell; not a shell parser.
fn parts(command: &str) -> Vec<&str> {
    let operators = [';', '|', '&', '\n', '(', ')', '{', '}', '`'];
    command
        .split(operators)
        .map(|part| part.trim_matches([' ', '\t', '$']))
        .filter(|part| !part.is_empty())
        .collect()
}

/// Resolves `.` and `..` by name alone; links are the file policy's matter.
fn normalise(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_patterns_of_writing_tools_have_a_root() {
        let root =
            |rule: &str| rule.parse::<Rule>().unwrap().write_root().map(|root| root.display().to_string());
        assert_eq!(root("write(/data/out/*.csv)").as_deref(), Some("/data/out"));
        assert_eq!(root("edit(/data/{a,b}/*)").as_deref(), Some("/data"));
        assert_eq!(root("write(/data/one.txt)").as_deref(), Some("/data/one.txt"));
        assert_eq!(root("write(/data/../etc/*)").as_deref(), Some("/etc"));
        for none in
            ["write", "write(docs/*)", "read(/data/*)", "bash(/bin/ls *)", "write(/*)", "write(/**)", "*"]
        {
            assert_eq!(root(none), None, "{none}");
        }
    }
}
