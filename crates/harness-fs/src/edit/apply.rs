//! The edit itself.

use std::ops::Range;

use memchr::memmem::Finder;

use super::hunk::hunks;
use super::line_index::LineIndex;
use super::near::NearMiss;
use super::normal::Normalized;
use super::span::Core;
use super::{Changes, EditRefusal, MAX_REPORTED_LINES};
use crate::text::{LineEnding, LineEndings, to_lf};

/// An edited text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole text after the edit.
    pub text: String,
    /// What changed.
    pub changes: Changes,
}

/// Replaces `old` by `new` in `source`.
///
/// Matching is literal and takes CRLF and LF for the same thing, in the source as in `old`; a leading byte order mark
/// of the source is never part of a match. Of the source, only what differs between `old` and `new` is replaced: every
/// other byte stays. A line ending in inserted text becomes, in this order of preference:
/// 1. that of the line ending which it replaces (the first for the first, and so on);
/// 2. that of another line ending of the occurrence: the last one before the inserted text ends, else the next;
/// 3. that of the line in which the occurrence ends;
/// 4. the more frequent one of the source;
/// 5. in a source of one line, the more frequent one of `new`.
///
/// # Errors
/// [`EditRefusal`]: `old` is empty, equals `new`, does not occur, or occurs more than once without `replace_all`.
pub fn apply_edit(source: &str, old: &str, new: &str, replace_all: bool) -> Result<Edited, EditRefusal> {
    let own_ending = LineEndings::of(new).dominant();
    let (old, new) = (to_lf(old), to_lf(new));
    if old.is_empty() {
        return Err(EditRefusal::EmptyOldString);
    }
    if old == new {
        return Err(EditRefusal::NoChange);
    }
    let view = Normalized::new(source);
    let starts = occurrences(&view.text, &old, replace_all)?;
    let core = Core::between(&old, &new);
    let default = view.dominant().or(own_ending).unwrap_or(LineEnding::Lf);

    let mut text = String::with_capacity(source.len() + core.new.len() * starts.len());
    let mut copied = 0;
    for start in &starts {
        let occurrence = *start..start + old.len();
        let range = core.range(*start, &old);
        let from = view.source_offset(range.start);
        text.push_str(&source[copied..from]);
        insert(&mut text, core.new, &Endings { view: &view, occurrence, range: range.clone(), default });
        copied = view.source_offset(range.end);
    }
    text.push_str(&source[copied..]);

    let ranges: Vec<_> = starts.iter().map(|start| core.range(*start, &old)).collect();
    let (hunks, hunks_truncated) = hunks(&view.text, &ranges, core.new);
    let lines = lines_after(&view.text, &starts, &core, &old);
    Ok(Edited { text, changes: Changes { replacements: starts.len(), lines, hunks, hunks_truncated } })
}

/// Start offsets of the non-overlapping occurrences, from the left.
fn occurrences(text: &str, old: &str, replace_all: bool) -> Result<Vec<usize>, EditRefusal> {
    let finder = Finder::new(old);
    let mut starts: Vec<usize> = finder.find_iter(text.as_bytes()).collect();
    let Some(&first) = starts.first() else {
        return Err(EditRefusal::NoMatch { near: NearMiss::find(text, old) });
    };
    if replace_all {
        return Ok(starts);
    }
    if starts.len() == 1 {
        // An overlapping second occurrence is skipped above, yet it leaves open which one is meant.
        let after = first + old.chars().next().map_or(1, char::len_utf8);
        starts.extend(finder.find(&text.as_bytes()[after..]).map(|at| after + at));
    }
    if starts.len() > 1 {
        let mut index = LineIndex::new(text);
        let lines = starts.iter().take(MAX_REPORTED_LINES).map(|start| index.line_of(*start)).collect();
        return Err(EditRefusal::AmbiguousMatch { count: starts.len(), lines });
    }
    Ok(starts)
}

/// The line endings around one replacement, in normalised offsets.
struct Endings<'a> {
    view: &'a Normalized<'a>,
    occurrence: Range<usize>,
    range: Range<usize>,
    default: LineEnding,
}

impl Endings<'_> {
    fn newlines(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
        let start = range.start;
        memchr::memchr_iter(b'\n', &self.view.text.as_bytes()[range]).map(move |at| start + at)
    }

    /// The ending for inserted newlines that replace none.
    fn fallback(&self) -> LineEnding {
        let before = self.newlines(self.occurrence.start..self.range.end).next_back();
        let rest = self.view.text.len();
        before
            .or_else(|| self.newlines(self.range.end..self.occurrence.end).next())
            .or_else(|| self.newlines(self.occurrence.end..rest).next())
            .map_or(self.default, |newline| self.view.ending(newline))
    }
}

fn insert(text: &mut String, new: &str, endings: &Endings<'_>) {
    let mut lines = new.split('\n');
    text.push_str(lines.next().unwrap_or_default());
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    let fallback = endings.fallback();
    let mut replaced = endings.newlines(endings.range.clone());
    for line in lines {
        let ending = replaced.next().map_or(fallback, |newline| endings.view.ending(newline));
        text.push_str(ending.as_str());
        text.push_str(line);
    }
}

/// Where the first replacements start in the edited text.
fn lines_after(text: &str, starts: &[usize], core: &Core<'_>, old: &str) -> Vec<u64> {
    let newlines = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    let removed = newlines(&old[core.prefix..old.len() - core.suffix]);
    let added = newlines(core.new);
    let mut index = LineIndex::new(text);
    let first = starts.iter().take(MAX_REPORTED_LINES).zip(0..);
    first
        .map(|(start, earlier): (_, u64)| index.line_of(*start) + earlier * added - earlier * removed)
        .collect()
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
