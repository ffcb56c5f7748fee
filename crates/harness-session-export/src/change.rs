//! What a tool call changed in a file, line by line.
use similar::{ChangeTag, TextDiff};

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// What happened to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Its content was replaced; compared with what the session last saw of it.
    Replaced,
    /// Its content was replaced; what it held before is not in the log.
    Overwritten,
    /// Some of it was replaced.
    Edited,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file, as the call names it.
    pub path: String,
    /// What happened.
    pub kind: ChangeKind,
    /// The lines, hunk after hunk.
    pub lines: Vec<Line>,
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: LineKind,
    /// Its number in the old file, from 1.
    pub old: Option<u64>,
    /// Its number in the new file, from 1.
    pub new: Option<u64>,
    /// The line without its end.
    pub text: String,
}

/// What a line of a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The same before and after.
    Same,
    /// Only after.
    Added,
    /// Only before.
    Removed,
    /// Lines in between are not shown, or a remark.
    Gap,
}
impl LineKind {
    /// The sign of `diff -u`.
    pub fn sign(self) -> char {
        match self {
            Self::Same => ' ',
            Self::Added => '+',
            Self::Removed => '-',
            Self::Gap => '⋯',
        }
    }
}

impl Change {
    /// How many lines were added and removed.
    pub fn count(&self) -> (usize, usize) {
        let count = |kind| self.lines.iter().filter(|line| line.kind == kind).count();
        (count(LineKind::Added), count(LineKind::Removed))
    }
}

/// The lines that differ, with their surroundings. Without numbers when the texts are pieces of a file.
pub(crate) fn compare(old: &str, new: &str, numbered: bool) -> Vec<Line> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for (nth, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if nth > 0 {
            lines.push(Line { kind: LineKind::Gap, old: None, new: None, text: String::new() });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let kind = match change.tag() {
                ChangeTag::Equal => LineKind::Same,
                ChangeTag::Insert => LineKind::Added,
                ChangeTag::Delete => LineKind::Removed,
            };
            let number = |index: Option<usize>| index.filter(|_| numbered).map(|index| index as u64 + 1);
            let text = change.value();
            let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
            lines.push(Line { kind, old: number(change.old_index()), new: number(change.new_index()), text });
        }
    }
    lines
}

/// Reads the notation of `diff -u`.
pub(crate) fn parse(diff: &str) -> Vec<Line> {
    let (mut lines, mut at) = (Vec::new(), None);
    for line in diff.lines() {
        if let Some(starts) = header(line) {
            if !lines.is_empty() {
                lines.push(Line { kind: LineKind::Gap, old: None, new: None, text: String::new() });
            }
            at = Some(starts);
            continue;
        }
        let mut shown = |kind, text: &str| {
            let (mut old, mut new) = (None, None);
            if let Some((old_next, new_next)) = &mut at {
                if matches!(kind, LineKind::Same | LineKind::Removed) {
                    old = Some(*old_next);
                    *old_next += 1;
                }
                if matches!(kind, LineKind::Same | LineKind::Added) {
                    new = Some(*new_next);
                    *new_next += 1;
                }
            }
            lines.push(Line { kind, old, new, text: text.to_owned() });
        };
        match line.split_at_checked(1) {
            Some(("+", text)) => shown(LineKind::Added, text),
            Some(("-", text)) => shown(LineKind::Removed, text),
            Some((" ", text)) => shown(LineKind::Same, text),
            _ => shown(LineKind::Gap, line),
        }
    }
    lines
}

/// First line numbers of `@@ -a,b +c,d @@`. An empty side is named by the line before it.
fn header(line: &str) -> Option<(u64, u64)> {
    let ranges = line.strip_prefix("@@ -")?.strip_suffix(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let start = |side: &str| {
        let (start, lines) = side.split_once(',').unwrap_or((side, "1"));
        let start: u64 = start.parse().ok()?;
        Some(if lines == "0" { start + 1 } else { start })
    };
    Some((start(old)?, start(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[Line]) -> Vec<String> {
        let number = |n: Option<u64>| n.map_or_else(|| "·".to_owned(), |n| n.to_string());
        let line = |line: &Line| {
            format!("{} {} {}{}", number(line.old), number(line.new), line.kind.sign(), line.text)
        };
        lines.iter().map(line).collect()
    }
    #[test]
    fn changed_lines_come_with_numbers_and_surroundings() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n";
        let new = old.replace("b\n", "B\nB2\n").replace("l\n", "");
        let lines = shown(&compare(old, &new, true));
        let expected = [
            "1 1  a",
            "2 · -b",
            "· 2 +B",
            "· 3 +B2",
            "3 4  c",
            "4 5  d",
            "5 6  e",
            "· · ⋯",
            "9 10  i",
            "10 11  j",
            "11 12  k",
            "12 · -l",
        ];
        assert_eq!(lines, expected);
    }
    #[test]
    fn the_logged_notation_is_read_back() {
        let diff = "@@ -4,2 +4,2 @@\n same\n-old\n+new\n@@ -0,0 +1,1 @@\n+first\n… (more changes)\n";
        let lines = shown(&parse(diff));
        assert_eq!(
            lines,
            ["4 4  same", "5 · -old", "· 5 +new", "· · ⋯", "· 1 +first", "· · ⋯… (more changes)"]
        );
    }
    #[test]
    fn a_line_that_looks_like_a_sign_stays_a_line() {
        assert_eq!(
            shown(&parse("@@ -1,1 +1,1 @@\n--- x\n+@@ -1 +1 @@\n")),
            ["1 · --- x", "· 1 +@@ -1 +1 @@"]
        );
    }
}
