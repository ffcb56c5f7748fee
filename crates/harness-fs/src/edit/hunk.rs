//! The changed lines of an edit in their context.

use std::fmt;
use std::ops::Range;

use super::line_index::LineIndex;

/// Unchanged lines shown around a change, as `diff -u` does.
const CONTEXT_LINES: usize = 3;
/// Most lines that all hunks of one edit show together.
const MAX_LINES: usize = 400;
/// Most characters of a line that a hunk shows.
const MAX_LINE_CHARS: usize = 500;

/// One line of a hunk, without its ending and cut to 500 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffLine {
    /// Unchanged.
    Context(String),
    /// Only in the old text.
    Removed(String),
    /// Only in the new text.
    Added(String),
}

/// Neighbouring changes with up to three unchanged lines on each side. It is meant to be shown, not to be applied:
/// line endings and long lines are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line in the old text, counted from one.
    pub old_start: u64,
    /// How many lines of the old text it covers.
    pub old_lines: u64,
    /// First line in the new text, counted from one.
    pub new_start: u64,
    /// How many lines of the new text it covers.
    pub new_lines: u64,
    /// The lines.
    pub lines: Vec<DiffLine>,
}

impl fmt::Display for Hunk {
    /// The notation of `diff -u`, every line ended.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By that notation, an empty side is named by the line before it.
        let side = |start: u64, lines: u64| format!("{},{lines}", if lines == 0 { start - 1 } else { start });
        let (old, new) = (side(self.old_start, self.old_lines), side(self.new_start, self.new_lines));
        writeln!(formatter, "@@ -{old} +{new} @@")?;
        for line in &self.lines {
            match line {
                DiffLine::Context(text) => writeln!(formatter, " {text}")?,
                DiffLine::Removed(text) => writeln!(formatter, "-{text}")?,
                DiffLine::Added(text) => writeln!(formatter, "+{text}")?,
            }
        }
        Ok(())
    }
}

/// Whole lines that change: where they are in the old text, and the text that takes their place.
struct Change {
    old: Range<usize>,
    new: String,
}

/// The hunks of replacing each of the ascending `ranges` of `text` by `new`, and whether some lines were left out.
pub(super) fn hunks(text: &str, ranges: &[Range<usize>], new: &str) -> (Vec<Hunk>, bool) {
    let mut changes = Changes { text, ranges, new, at: 0 }.peekable();
    let mut index = LineIndex::new(text);
    let mut hunks = Vec::new();
    let mut room = MAX_LINES;
    // Lines added and removed by the hunks so far.
    let mut shift = (0, 0);
    while let Some(mut change) = changes.next() {
        if room == 0 {
            return (hunks, true);
        }
        let start = lines_before(text, change.old.start);
        let old_start = index.line_of(start);
        let mut lines = Lines { shown: Vec::new(), old: 0, new: 0, room, cut: false };
        let mut at = start;
        loop {
            lines.context(&text[at..change.old.start]);
            lines.change(&text[change.old.clone()], &change.new);
            at = change.old.end;
            let end = lines_after(text, at);
            match changes.next_if(|next| lines.room > 0 && lines_before(text, next.old.start) <= end) {
                Some(next) => change = next,
                None => break lines.context(&text[at..end]),
            }
        }
        let new_start = old_start + shift.0 - shift.1;
        shift = (shift.0 + lines.new, shift.1 + lines.old);
        room = lines.room;
        let Lines { shown, old, new, cut, .. } = lines;
        hunks.push(Hunk { old_start, old_lines: old, new_start, new_lines: new, lines: shown });
        if cut {
            return (hunks, true);
        }
    }
    (hunks, false)
}

/// The lines of one hunk, as far as there is room; the counts go on beyond it.
struct Lines {
    shown: Vec<DiffLine>,
    old: u64,
    new: u64,
    room: usize,
    cut: bool,
}

impl Lines {
    fn context(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            (self.old, self.new) = (self.old + 1, self.new + 1);
            self.push(line, DiffLine::Context);
        }
    }

    fn change(&mut self, old: &str, new: &str) {
        for line in old.split_inclusive('\n') {
            self.old += 1;
            self.push(line, DiffLine::Removed);
        }
        for line in new.split_inclusive('\n') {
            self.new += 1;
            self.push(line, DiffLine::Added);
        }
    }

    fn push(&mut self, line: &str, kind: impl Fn(String) -> DiffLine) {
        if self.room == 0 {
            self.cut = true;
        } else {
            self.room -= 1;
            self.shown.push(kind(shown_line(line)));
        }
    }
}

fn shown_line(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The start of the context before the line that starts at `at`.
fn lines_before(text: &str, at: usize) -> usize {
    let mut newlines = memchr::memrchr_iter(b'\n', &text.as_bytes()[..at]);
    newlines.nth(CONTEXT_LINES).map_or(0, |newline| newline + 1)
}

/// The end of the context after the line that ends at `at`.
fn lines_after(text: &str, at: usize) -> usize {
    let mut newlines = memchr::memchr_iter(b'\n', &text.as_bytes()[at..]);
    newlines.nth(CONTEXT_LINES - 1).map_or(text.len(), |newline| at + newline + 1)
}

/// Widens ranges to whole lines, joins those that share a line, and drops lines that stay the same.
struct Changes<'a> {
    text: &'a str,
    ranges: &'a [Range<usize>],
    new: &'a str,
    at: usize,
}

impl Iterator for Changes<'_> {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        let mut range = self.ranges.get(self.at)?;
        let start =
            memchr::memrchr(b'\n', &self.text.as_bytes()[..range.start]).map_or(0, |newline| newline + 1);
        let mut new = self.text[start..range.start].to_owned();
        let end = loop {
            new.push_str(self.new);
            self.at += 1;
            let same_line = |next: &&Range<usize>| !self.text[range.end..next.start].contains('\n');
            if let Some(next) = self.ranges.get(self.at).filter(same_line) {
                new.push_str(&self.text[range.end..next.start]);
                range = next;
            } else {
                let rest = &self.text[range.end..];
                let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |newline| newline + 1);
                new.push_str(&rest[..end]);
                break range.end + end;
            }
        };
        Some(trimmed(self.text, start..end, &new))
    }
}

fn trimmed(text: &str, old: Range<usize>, new: &str) -> Change {
    let before: Vec<&str> = text[old.clone()].split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let shorter = before.len().min(after.len());
    let prefix = (0..shorter).take_while(|at| before[*at] == after[*at]).count();
    let from_end = |at: &usize| before[before.len() - 1 - at] == after[after.len() - 1 - at];
    let suffix = (0..shorter - prefix).take_while(from_end).count();
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let (start, end) = (bytes(&before[..prefix]), bytes(&before[before.len() - suffix..]));
    Change { old: old.start + start..old.end - end, new: after[prefix..after.len() - suffix].concat() }
}

#[cfg(test)]
#[path = "hunk_tests.rs"]
mod tests;
