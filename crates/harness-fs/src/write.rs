//! Whole-file writes.

use std::borrow::Cow;

use crate::text::{BOM, LineEnding, LineEndings, to_crlf};
use crate::{ResolvedPath, Version};

/// Above this size of either side, in bytes, [`WriteOutcome::previous`] is left out and [`Format::Keep`] does nothing.
pub const MAX_PREVIOUS_BYTES: u64 = 10 * 1024 * 1024;

/// What must hold of the target for a write to happen at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Precondition {
    /// Nothing: create or replace.
    #[default]
    Any,
    /// Nothing may be there yet, else `FS_ALREADY_EXISTS`.
    CreateOnly,
    /// The file must still be in this state, else `FS_STALE`.
    ReplaceVersion(Version),
}

/// Whether a replaced file keeps its own text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// The content is written byte for byte.
    #[default]
    Verbatim,
    /// A file whose lines all end in CRLF keeps CRLF, and a file with a byte order mark keeps it, when the new content
    /// has neither: see [`keep_format`].
    Keep,
}

/// A request to write a whole text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteRequest {
    /// Where; missing parent directories are created.
    pub path: ResolvedPath,
    /// The new content.
    pub content: String,
    /// What must hold of the target.
    pub precondition: Precondition,
    /// Whether an existing file's line endings and byte order mark are kept.
    pub format: Format,
}

impl WriteRequest {
    /// An unconditional, verbatim write.
    pub fn new(path: ResolvedPath, content: impl Into<String>) -> Self {
        Self { path, content: content.into(), precondition: Precondition::Any, format: Format::Verbatim }
    }

    /// The same write under a precondition.
    #[must_use]
    pub fn with_precondition(mut self, precondition: Precondition) -> Self {
        self.precondition = precondition;
        self
    }

    /// The same write with a format rule.
    #[must_use]
    pub fn with_format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }
}

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOutcome {
    /// The state after the write.
    pub version: Version,
    /// Whether the file did not exist before.
    pub created: bool,
    /// The text that was replaced, if there was one and both sides are within [`MAX_PREVIOUS_BYTES`].
    pub previous: Option<String>,
    /// Whether [`Format::Keep`] changed the content on its way to the file.
    pub format_kept: bool,
    /// Bytes written.
    pub size: u64,
}

/// Gives `content` the line endings and byte order mark of the text that it replaces.
///
/// CRLF is adopted only when every line of `previous` ends so and no line of `content` does: with mixed endings on
/// either side there is nothing certain to keep, and the content stays as it is.
pub fn keep_format<'a>(previous: &str, content: &'a str) -> Cow<'a, str> {
    let (before, after) = (LineEndings::of(previous), LineEndings::of(content));
    let adopt_crlf = before.only() == Some(LineEnding::CrLf) && after.only() == Some(LineEnding::Lf);
    let adopt_mark = previous.starts_with(BOM) && !content.starts_with(BOM);
    match (adopt_crlf, adopt_mark) {
        (false, false) => Cow::Borrowed(content),
        (false, true) => Cow::Owned(format!("{BOM}{content}")),
        (true, false) => Cow::Owned(to_crlf(content)),
        (true, true) => Cow::Owned(format!("{BOM}{}", to_crlf(content))),
    }
}

#[cfg(test)]
mod tests {
    use super::keep_format;

    #[track_caller]
    fn check(previous: &str, content: &str, expected: &str) {
        assert_eq!(keep_format(previous, content), expected);
    }

    #[test]
    fn uniform_crlf_and_the_mark_are_adopted() {
        check("a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n");
        check("\u{feff}a\r\n", "x\n", "\u{feff}x\r\n");
        check("\u{feff}a\n", "x\n", "\u{feff}x\n");
        check("\u{feff}a\n", "\u{feff}x\n", "\u{feff}x\n");
    }

    #[test]
    fn anything_uncertain_is_verbatim() {
        check("a\r\nb\n", "x\ny\n", "x\ny\n");
        check("a\r\n", "x\r\ny\n", "x\r\ny\n");
        check("a\n", "x\r\n", "x\r\n");
        check("", "x\n", "x\n");
    }
}
