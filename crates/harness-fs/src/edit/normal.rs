//! A view of a text in which every line ends in LF and no byte order mark leads.

use std::borrow::Cow;

use crate::text::{BOM, LineEnding, to_lf};

/// The normalised text, with the way back to the bytes that it stands for.
pub(super) struct Normalized<'a> {
    pub(super) text: Cow<'a, str>,
    mark: usize,
    /// Offsets in `text` of the newlines that are CRLF in the source, ascending.
    crlf: Vec<usize>,
}

impl<'a> Normalized<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let body = source.strip_prefix(BOM).unwrap_or(source);
        let crlf = memchr::memmem::find_iter(body.as_bytes(), b"\r\n")
            .enumerate()
            .map(|(returns_before, at)| at - returns_before)
            .collect();
        Self { text: to_lf(body), mark: source.len() - body.len(), crlf }
    }

    /// The source offset of a normalised offset; at a CRLF it is the offset of the carriage return.
    pub(super) fn source_offset(&self, offset: usize) -> usize {
        self.mark + offset + self.crlf.partition_point(|newline| *newline < offset)
    }

    /// How the newline at normalised offset `newline` ends its line.
    pub(super) fn ending(&self, newline: usize) -> LineEnding {
        if self.crlf.binary_search(&newline).is_ok() { LineEnding::CrLf } else { LineEnding::Lf }
    }

    /// The ending that most lines have.
    pub(super) fn dominant(&self) -> Option<LineEnding> {
        let newlines = memchr::memchr_iter(b'\n', self.text.as_bytes()).count() as u64;
        let crlf = self.crlf.len() as u64;
        crate::LineEndings { lf: newlines - crlf, crlf }.dominant()
    }
}
