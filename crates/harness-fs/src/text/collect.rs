//! Cuts a stream of text into the lines of a window.

use super::{TextLine, TextSlice, TextWindow};

/// Takes text piece by piece and keeps what the window shows; memory is bounded by the window.
pub(super) struct Collector {
    window: TextWindow,
    slice: TextSlice,
    /// Number of the line that is being taken.
    number: u64,
    /// Whether that line has begun.
    begun: bool,
    text: String,
    /// How many more characters of it may be kept.
    room: usize,
    omitted: u64,
    /// The last piece ended in a carriage return: it belongs to an ending, or to the text, as the next byte tells.
    held_return: bool,
    bytes: usize,
    overflow: bool,
}

impl Collector {
    pub(super) fn new(window: TextWindow) -> Self {
        let window = TextWindow {
            first_line: window.first_line.max(1),
            max_lines: window.max_lines.max(1),
            max_bytes: window.max_bytes.max(1),
            max_line_chars: window.max_line_chars.max(1),
        };
        Self {
            window,
            slice: TextSlice::default(),
            number: 1,
            begun: false,
            text: String::new(),
            room: window.max_line_chars,
            omitted: 0,
            held_return: false,
            bytes: 0,
            overflow: false,
        }
    }

    pub(super) fn mark_seen(&mut self) {
        self.slice.byte_order_mark = true;
    }

    /// Takes the next piece. `false` means that the window is full and that the file goes on.
    pub(super) fn push(&mut self, mut piece: &str) -> bool {
        while !piece.is_empty() {
            if self.slice.lines.len() >= self.window.max_lines {
                self.overflow = true;
            } else if let Some(end) = memchr::memchr(b'\n', piece.as_bytes()) {
                self.segment(&piece[..end]);
                self.end_line(true);
                piece = &piece[end + 1..];
            } else {
                self.segment(piece);
                piece = "";
            }
            if self.overflow {
                return false;
            }
        }
        true
    }

    /// What was kept. `complete` says whether the stream was read to its end.
    pub(super) fn finish(mut self, complete: bool) -> TextSlice {
        if complete && self.begun {
            self.end_line(false);
        }
        if complete && !self.overflow {
            self.slice.total_lines = Some(self.number - 1);
        } else {
            self.slice.next_line = Some(self.number);
        }
        self.slice
    }

    fn segment(&mut self, segment: &str) {
        self.begun = true;
        if segment.is_empty() {
            return;
        }
        if self.held_return {
            self.keep("\r");
        }
        let text = segment.strip_suffix('\r');
        self.held_return = text.is_some();
        self.keep(text.unwrap_or(segment));
    }

    fn keep(&mut self, text: &str) {
        if self.number < self.window.first_line || self.overflow {
            return;
        }
        let mut fits = if text.len() <= self.room {
            text
        } else {
            text.char_indices().nth(self.room).map_or(text, |(end, _)| &text[..end])
        };
        let budget = self.window.max_bytes.saturating_sub(self.bytes + self.text.len() + 1);
        if fits.len() > budget {
            if !self.slice.lines.is_empty() {
                // The line does not fit behind the others: the next window starts with it.
                self.overflow = true;
                return;
            }
            // A window always shows at least the start of its first line.
            let least = fits.ceil_char_boundary(usize::from(self.text.is_empty()));
            fits = &fits[..fits.floor_char_boundary(budget).max(least)];
            self.room = fits.chars().count();
        }
        self.text.push_str(fits);
        self.room -= fits.chars().count();
        self.omitted += text[fits.len()..].chars().count() as u64;
    }

    fn end_line(&mut self, ended: bool) {
        if ended {
            self.slice.endings.count(self.held_return);
        } else if self.held_return {
            self.keep("\r");
        }
        self.held_return = false;
        self.begun = false;
        if self.number >= self.window.first_line {
            let empty_does_not_fit = !self.slice.lines.is_empty() && self.bytes + 1 > self.window.max_bytes;
            if self.overflow || empty_does_not_fit {
                self.overflow = true;
                return;
            }
            self.bytes += self.text.len() + 1;
            let text = std::mem::take(&mut self.text);
            self.slice.lines.push(TextLine { number: self.number, text, omitted_chars: self.omitted });
            self.room = self.window.max_line_chars;
            self.omitted = 0;
        }
        self.number += 1;
    }
}
