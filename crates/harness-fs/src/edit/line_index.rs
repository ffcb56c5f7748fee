//! Line numbers for ascending offsets.

/// Counts lines while it walks forward through a text.
pub(super) struct LineIndex<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl<'a> LineIndex<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// The line, counted from one, that holds `offset`. Offsets must not decrease from call to call.
    pub(super) fn line_of(&mut self, offset: usize) -> u64 {
        let passed = &self.text.as_bytes()[self.at..offset];
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.at = offset;
        self.line
    }
}
