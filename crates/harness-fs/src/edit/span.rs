//! The part of each occurrence that really changes.

use std::ops::Range;

/// A replacement reduced to what differs: the common start and end of both texts stay untouched, so that a line inside
/// an occurrence which does not change keeps its bytes too.
pub(super) struct Core<'a> {
    /// Bytes at the start of the old text that stay.
    pub(super) prefix: usize,
    /// Bytes at its end that stay.
    pub(super) suffix: usize,
    /// What replaces the middle.
    pub(super) new: &'a str,
}

impl<'a> Core<'a> {
    pub(super) fn between(old: &str, new: &'a str) -> Self {
        let shorter = old.len().min(new.len());
        let same = old.bytes().zip(new.bytes()).take_while(|(left, right)| left == right).count();
        // Both texts agree up to there, so a boundary of one is a boundary of the other.
        let prefix = old.floor_char_boundary(same);
        let same = old.bytes().rev().zip(new.bytes().rev()).take_while(|(left, right)| left == right).count();
        let same = same.min(shorter - prefix);
        let suffix = old.len() - old.ceil_char_boundary(old.len() - same);
        Self { prefix, suffix, new: &new[prefix..new.len() - suffix] }
    }

    /// The range that changes in an occurrence of the old text at `start`.
    pub(super) fn range(&self, start: usize, old: &str) -> Range<usize> {
        start + self.prefix..start + old.len() - self.suffix
    }
}

#[cfg(test)]
mod tests {
    use super::Core;

    #[track_caller]
    fn check(old: &str, new: &str, expected: (usize, usize, &str)) {
        let core = Core::between(old, new);
        assert_eq!((core.prefix, core.suffix, core.new), expected);
    }

    #[test]
    fn common_ends_are_trimmed_without_overlap() {
        check("one\ntwo", "one\nTWO", (4, 0, "TWO"));
        check("aa", "aaa", (2, 0, "a"));
        check("aaa", "aa", (2, 0, ""));
        check("abc", "xyz", (0, 0, "xyz"));
        check("a\nb\nc", "a\nb\nnew\nc", (4, 1, "new\n"));
    }

    #[test]
    fn characters_are_never_cut() {
        // é and è share their first byte; é and ũ share the last.
        check("é", "è", (0, 0, "è"));
        check("xé", "xũ", (1, 0, "ũ"));
    }
}
