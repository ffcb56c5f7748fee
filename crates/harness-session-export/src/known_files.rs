//! What the session knows of files, so that a rewritten one can be compared with what it was.
use std::collections::HashMap;

use harness_session::ToolResult;
use serde_json::Value;

use crate::change::{Change, ChangeKind, Line, LineKind, compare, parse};

/// Whole contents, by absolute path where the log has it.
#[derive(Default)]
pub(crate) struct KnownFiles(HashMap<String, String>);

impl KnownFiles {
    /// Takes note of a call that succeeded; what it changed, if it changed a file.
    pub(crate) fn note(
        &mut self,
        tool: &str,
        arguments: &str,
        result: &ToolResult,
        text: &str,
    ) -> Option<Change> {
        let arguments: Value = serde_json::from_str(arguments).ok()?;
        let word = |key: &str| arguments.get(key).and_then(Value::as_str);
        let path = word("file_path")?.to_owned();
        let meta = result.meta.as_ref();
        let key = meta.and_then(|meta| meta.pointer("/fs/path")?.as_str()).unwrap_or(&path).to_owned();
        match tool {
            "read" => {
                let first = arguments.get("offset").and_then(Value::as_u64).unwrap_or(1) <= 1;
                match whole(text).filter(|_| first) {
                    Some(content) => drop(self.0.insert(key, content)),
                    None => return None,
                }
                None
            }
            "write" => {
                let content = word("content")?.to_owned();
                let before = self.0.insert(key, content.clone());
                let (kind, old) = match before {
                    _ if text.starts_with("created ") => (ChangeKind::Created, String::new()),
                    Some(before) => (ChangeKind::Replaced, before),
                    None => (ChangeKind::Overwritten, String::new()),
                };
                Some(Change { path, kind, lines: compare(&old, &content, true) })
            }
            "edit" => {
                let (old, new) = (word("old_string")?, word("new_string")?);
                self.edit(&key, old, new, arguments.get("replace_all") == Some(&Value::Bool(true)));
                let lines = match meta.and_then(|meta| meta.get("diff")?.as_str()) {
                    Some(diff) => parse(diff),
                    None => compare(old, new, false),
                };
                Some(Change { path, kind: ChangeKind::Edited, lines: emptied(lines) })
            }
            _ => None,
        }
    }

    fn edit(&mut self, key: &str, old: &str, new: &str, all: bool) {
        if let Some(content) = self.0.get_mut(key) {
            if content.contains(old) {
                *content = if all { content.replace(old, new) } else { content.replacen(old, new, 1) };
            } else {
                // Somebody else changed it; what is known is not so any more.
                self.0.remove(key);
            }
        }
    }
}

/// An edit that changed nothing says so.
fn emptied(mut lines: Vec<Line>) -> Vec<Line> {
    if lines.is_empty() {
        let text = "(no line differs)".to_owned();
        lines.push(Line { kind: LineKind::Gap, old: None, new: None, text });
    }
    lines
}

/// The content of a file that was read whole: numbered lines from 1, nothing left out.
fn whole(shown: &str) -> Option<String> {
    let mut content = String::new();
    for (line, number) in shown.lines().zip(1u64..) {
        let (at, text) = line.split_once('\t')?;
        if at.parse() != Ok(number) || text.ends_with(" characters left out)") {
            return None;
        }
        content.push_str(text);
        content.push('\n');
    }
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_file_counts_as_known() {
        assert_eq!(whole("1\ta\n2\t\tb\n").as_deref(), Some("a\n\tb\n"));
        assert_eq!(whole("2\tb\n"), None);
        assert_eq!(whole("1\ta\n(the file goes on (90 bytes in all); go on with offset 2)\n"), None);
        assert_eq!(whole("1\taaa… (7 characters left out)\n"), None);
    }
}
