//! Cuts valid text into whole events, whatever the chunks it arrives in.
//!
//! The parser behind this framer is quadratic in the size of a piece and unbounded in memory when
//! pieces are arbitrary; fed whole events it is neither.

use bytes::{Buf, Bytes, BytesMut};

use crate::parser::Fault;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What the framer found next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// All lines of one event, its closing blank line included. The last byte can be a bare
    /// carriage return, if a line feed that may belong to it has not arrived.
    Event(Bytes),
    /// One comment line, without colon and line end.
    Comment(Bytes),
}

/// A line-end scanner that owns the bytes of the event that is still open.
///
/// Offsets named `line_*` count from the start of the open event, which is `pending` followed by
/// the front of `input`.
#[derive(Debug)]
pub(crate) struct Framer {
    limit: usize,
    /// Bytes of the open event from earlier chunks.
    pending: BytesMut,
    /// The current chunk, from the open event's first byte in it.
    input: Bytes,
    /// How far into `input` line ends have been looked for.
    scanned: usize,
    line_start: usize,
    /// The byte before was a carriage return; a line feed now is the second half of that line end.
    after_cr: bool,
    at_stream_start: bool,
}

impl Framer {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            pending: BytesMut::new(),
            input: Bytes::new(),
            scanned: 0,
            line_start: 0,
            after_cr: false,
            at_stream_start: true,
        }
    }

    /// Takes the next chunk; only valid once [`next_frame`](Self::next_frame) has returned `None`.
    /// Chunks hold whole characters.
    pub(crate) fn push(&mut self, mut chunk: Bytes) {
        debug_assert!(self.input.is_empty(), "the chunk before must be used up");
        if chunk.is_empty() {
            return;
        }
        if self.at_stream_start {
            self.at_stream_start = false;
            if chunk.starts_with(BYTE_ORDER_MARK) {
                chunk.advance(BYTE_ORDER_MARK.len());
            }
        }
        self.input = chunk;
        self.scanned = 0;
    }

    /// The next frame of the chunks so far, or `None` if more input is needed.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Frame>, Fault> {
        loop {
            if self.after_cr && self.scanned < self.input.len() {
                self.after_cr = false;
                if self.input[self.scanned] == b'\n' {
                    self.absorb_line_feed()?;
                    continue;
                }
            }
            let Some(distance) = memchr::memchr2(b'\n', b'\r', &self.input[self.scanned..]) else {
                self.set_aside()?;
                return Ok(None);
            };
            let at = self.scanned + distance;
            let line_end = self.pending.len() + at;
            let is_blank = line_end == self.line_start;
            if !is_blank {
                self.within_limit(line_end + 1)?;
            }
            self.after_cr = self.input[at] == b'\r';
            if is_blank {
                if let Some(block) = self.close_event(at) {
                    return Ok(Some(Frame::Event(block)));
                }
            } else if self.line_is_comment() {
                return Ok(Some(Frame::Comment(self.take_comment(at))));
            } else {
                self.start_line_after(at);
            }
        }
    }

    /// The bytes of an event that no blank line has closed; empty if the stream ended cleanly.
    pub(crate) fn finish(&mut self) -> Bytes {
        self.line_start = 0;
        self.pending.split().freeze()
    }

    /// How many bytes of an unfinished event are held.
    pub(crate) fn unfinished(&self) -> usize {
        self.pending.len() + self.input.len()
    }

    /// The line feed of a CR LF pair: part of the open event, or of the event or comment before.
    fn absorb_line_feed(&mut self) -> Result<(), Fault> {
        if self.pending.is_empty() && self.scanned == 0 {
            self.input.advance(1);
            return Ok(());
        }
        self.scanned += 1;
        self.line_start += 1;
        self.within_limit(self.line_start)
    }

    fn within_limit(&self, length: usize) -> Result<(), Fault> {
        if length > self.limit { Err(Fault::TooLarge { limit: self.limit }) } else { Ok(()) }
    }

    fn start_line_after(&mut self, at: usize) {
        self.scanned = at + 1;
        self.line_start = self.pending.len() + self.scanned;
    }

    /// Moves what is left of the chunk to the open event.
    fn set_aside(&mut self) -> Result<(), Fault> {
        self.within_limit(self.unfinished())?;
        self.pending.extend_from_slice(&self.input);
        self.input = Bytes::new();
        self.scanned = 0;
        Ok(())
    }

    /// The event that the blank line at `at` closes; `None` if no line came before it.
    fn close_event(&mut self, at: usize) -> Option<Bytes> {
        let is_empty = self.line_start == 0;
        let mut end = at + 1;
        if self.after_cr && self.input.get(end) == Some(&b'\n') {
            self.after_cr = false;
            end += 1;
        }
        self.scanned = 0;
        self.line_start = 0;
        if is_empty {
            self.input.advance(end);
            return None;
        }
        Some(self.take_front(end))
    }

    /// The open event up to `end` in the chunk; without a copy if it began in this chunk.
    fn take_front(&mut self, end: usize) -> Bytes {
        if self.pending.is_empty() {
            return self.input.split_to(end);
        }
        self.pending.extend_from_slice(&self.input[..end]);
        self.input.advance(end);
        self.pending.split().freeze()
    }

    fn line_is_comment(&self) -> bool {
        let first = match self.line_start.checked_sub(self.pending.len()) {
            None => self.pending[self.line_start],
            Some(in_input) => self.input[in_input],
        };
        first == b':'
    }

    /// The comment line that ends at `at`. Inside an event the line stays where it is; before the
    /// first field it is dropped, so that keep-alive comments never add up to an event.
    fn take_comment(&mut self, at: usize) -> Bytes {
        if self.line_start == 0 {
            self.scanned = 0;
            let mut line = self.take_front(at + 1);
            line.truncate(line.len() - 1);
            line.advance(1);
            return line;
        }
        let line_end = self.pending.len() + at;
        let text_start = self.line_start + 1;
        let comment = if let Some(from) = text_start.checked_sub(self.pending.len()) {
            self.input.slice(from..at)
        } else {
            let mut line = BytesMut::from(&self.pending[text_start..]);
            line.extend_from_slice(&self.input[..at]);
            line.freeze()
        };
        debug_assert_eq!(comment.len(), line_end - self.line_start - 1, "a whole line");
        self.start_line_after(at);
        comment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of `chunks`, in a notation: `E` event, `C` comment; then what is left over.
    fn frames(chunks: &[&str]) -> (Vec<String>, String) {
        let mut framer = Framer::new(1024);
        let mut seen = Vec::new();
        for chunk in chunks {
            framer.push(Bytes::copy_from_slice(chunk.as_bytes()));
            while let Some(frame) = framer.next_frame().unwrap() {
                seen.push(match frame {
                    Frame::Event(block) => format!("E {}", String::from_utf8_lossy(&block)),
                    Frame::Comment(text) => format!("C {}", String::from_utf8_lossy(&text)),
                });
            }
        }
        (seen, String::from_utf8(framer.finish().to_vec()).unwrap())
    }

    #[track_caller]
    fn check(chunks: &[&str], expected: &[&str], left: &str) {
        let expected: Vec<String> = expected.iter().map(|frame| (*frame).to_owned()).collect();
        assert_eq!(frames(chunks), (expected, left.to_owned()), "{chunks:?}");
    }

    #[test]
    fn blank_lines_of_every_kind_close_an_event() {
        check(&["a\n\nb\n\n"], &["E a\n\n", "E b\n\n"], "");
        check(&["a\r\n\r\nb\r\n\r\n"], &["E a\r\n\r\n", "E b\r\n\r\n"], "");
        check(&["a\r\rb\r\r"], &["E a\r\r", "E b\r\r"], "");
        check(&["a\r\n\nb\n\rc\r\r\n"], &["E a\r\n\n", "E b\n\r", "E c\r\r\n"], "");
    }

    #[test]
    fn a_pair_split_between_chunks_is_one_line_end() {
        check(&["a\r", "\nb\n\n"], &["E a\r\nb\n\n"], "");
        check(&["a\r\n\r", "\nb\r\n\r", "\n"], &["E a\r\n\r", "E b\r\n\r"], "");
        check(&[":c\r", "\na\n\n"], &["C c", "E a\n\n"], "");
    }

    #[test]
    fn an_event_is_handed_on_without_waiting_for_a_line_feed_that_may_never_come() {
        check(&["a\r\r"], &["E a\r\r"], "");
    }

    #[test]
    fn surplus_blank_lines_are_nothing() {
        check(&["\n\n\r\na\n\n\n\n"], &["E a\n\n"], "");
    }

    #[test]
    fn comments_come_at_their_line_end_and_leave_no_bytes_behind() {
        check(&[": on", "e\n", ":two\n\n", "a\n"], &["C  one", "C two"], "a\n");
        check(&["a\n:mid\nb\n\n"], &["C mid", "E a\n:mid\nb\n\n"], "");
        check(&["a\n:m", "id", "\nb\n\n"], &["C mid", "E a\n:mid\nb\n\n"], "");
        check(&["a\n", ":", "m\n\n"], &["C m", "E a\n:m\n\n"], "");
    }

    #[test]
    fn one_byte_order_mark_is_removed_and_only_at_the_start() {
        check(&["\u{feff}a\n\n\u{feff}b\n\n"], &["E a\n\n", "E \u{feff}b\n\n"], "");
        check(&["\u{feff}\u{feff}a\n\n"], &["E \u{feff}a\n\n"], "");
    }

    #[test]
    fn an_event_in_one_chunk_is_not_copied() {
        let chunk = Bytes::from_static(b"data: x\n\ndata: y\n\n");
        let mut framer = Framer::new(1024);
        framer.push(chunk.clone());
        for start in [0, 9] {
            let Some(Frame::Event(block)) = framer.next_frame().unwrap() else { panic!("an event") };
            assert_eq!(block.as_ptr(), chunk[start..].as_ptr());
        }
    }

    #[test]
    fn the_limit_counts_the_lines_and_not_the_blank_line() {
        for input in ["12345678\n\n", "1234567\r\n\r\n", "123\n5678\n\n"] {
            for (limit, fits) in [(9, true), (8, false)] {
                for size in 1..=input.len() {
                    let mut framer = Framer::new(limit);
                    let mut fault = None;
                    for chunk in input.as_bytes().chunks(size) {
                        framer.push(Bytes::copy_from_slice(chunk));
                        while fault.is_none() {
                            match framer.next_frame() {
                                Ok(Some(_)) => {}
                                Ok(None) => break,
                                Err(found) => fault = Some(found),
                            }
                        }
                        if fault.is_some() {
                            break;
                        }
                    }
                    assert_eq!(fault.is_none(), fits, "{input:?}, limit {limit}, chunks of {size}");
                }
            }
        }
    }
}
