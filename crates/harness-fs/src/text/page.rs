//! Windows of lines.

use super::LineEndings;
use crate::Version;

/// Which lines to read, and how much of them. Every limit below one counts as one, so that reading on always gets
/// further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextWindow {
    /// First line to return, counted from one.
    pub first_line: u64,
    /// Most lines to return.
    pub max_lines: usize,
    /// Most bytes of text to return, one byte per line ending included.
    pub max_bytes: usize,
    /// Most characters of one line to return; the rest of the line is skipped and counted.
    pub max_line_chars: usize,
}

impl TextWindow {
    /// The default window, moved to start at `first_line`.
    #[must_use]
    pub fn starting_at(first_line: u64) -> Self {
        Self { first_line, ..Self::default() }
    }
}

impl Default for TextWindow {
    /// The first 2,000 lines, at most 51,200 bytes, lines of at most 2,000 characters.
    fn default() -> Self {
        Self { first_line: 1, max_lines: 2_000, max_bytes: 51_200, max_line_chars: 2_000 }
    }
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextLine {
    /// Its number, counted from one.
    pub number: u64,
    /// Its text without the ending, and without the byte order mark of the file.
    pub text: String,
    /// How many characters at its end were left out.
    pub omitted_chars: u64,
}

/// The lines that a window showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextSlice {
    /// The lines, in order.
    pub lines: Vec<TextLine>,
    /// The line to continue at; `None` when the end of the file was reached.
    pub next_line: Option<u64>,
    /// How many lines the file has; known only when the end was reached. A last line without an ending counts.
    pub total_lines: Option<u64>,
    /// Endings of the lines passed over or returned.
    pub endings: LineEndings,
    /// Whether the file starts with a byte order mark.
    pub byte_order_mark: bool,
}

/// A window of a file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPage {
    /// The lines.
    pub slice: TextSlice,
    /// Size of the whole file in bytes.
    pub size: u64,
    /// The state that was read.
    pub version: Version,
}
