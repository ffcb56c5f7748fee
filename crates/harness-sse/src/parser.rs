//! Drives the `eventsource-stream` crate one whole event at a time.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use eventsource_stream::EventStream;
use futures_core::Stream;

use crate::event::SseEvent;

/// Up to this size an event is parsed in one piece. The parser copies the rest of a piece once for
/// each line in it, so larger events go line by line, which keeps many-line events linear.
const ONE_PIECE: usize = 1024;

/// A fault in the content of the stream, as opposed to its transport.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    TooLarge { limit: usize },
    Parse { message: String },
}

/// Where the next piece lies for the parser to take; empty means "not yet".
#[derive(Debug, Clone, Default)]
struct Slot(Arc<Mutex<Option<Bytes>>>);

impl Slot {
    fn put(&self, piece: Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(piece);
    }
}

impl Stream for Slot {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(piece) => Poll::Ready(Some(Ok(piece))),
            // No waker is kept: `feed` polls again right after it has put the next piece.
            None => Poll::Pending,
        }
    }
}

/// Turns the lines of one event into the event; remembers the last event id between events.
pub(crate) struct EventParser {
    slot: Slot,
    events: EventStream<Slot>,
}

impl EventParser {
    pub(crate) fn new() -> Self {
        let slot = Slot::default();
        let mut parser = Self { events: EventStream::new(slot.clone()), slot };
        // The parser panics if the very first text it sees starts with U+FEFF. A harmless blank
        // line comes first, so that a second mark is what the standard says: part of a name.
        let primed = parser.feed(Bytes::from_static(b"\n"));
        debug_assert_eq!(primed, Ok(None), "a blank line is no event");
        parser
    }

    /// The event of `block`, which ends with its blank line. `None` if it has no data.
    pub(crate) fn parse(&mut self, block: Bytes) -> Result<Option<SseEvent>, Fault> {
        let ends_in_cr = block.last() == Some(&b'\r');
        let mut event = self.feed_lines(block)?;
        if ends_in_cr {
            // The parser waits for the other half of a possible CR LF; the framer does not.
            event = self.feed(Bytes::from_static(b"\n"))?.or(event);
        }
        Ok(event)
    }

    /// The event of a block that the end of the stream has cut off.
    pub(crate) fn parse_unfinished(&mut self, block: Bytes) -> Result<Option<SseEvent>, Fault> {
        self.feed_lines(block)?;
        let event = self.feed(Bytes::from_static(b"\n\n"))?;
        Ok(event.map(|event| SseEvent { truncated: true, ..event }))
    }

    fn feed_lines(&mut self, block: Bytes) -> Result<Option<SseEvent>, Fault> {
        let mut event = None;
        for piece in pieces(block) {
            event = self.feed(piece)?.or(event);
        }
        Ok(event)
    }

    fn feed(&mut self, piece: Bytes) -> Result<Option<SseEvent>, Fault> {
        self.slot.put(piece);
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.events).poll_next(&mut context) {
            Poll::Ready(Some(Ok(event))) => {
                Ok(Some(SseEvent { event: event.event, data: event.data, id: event.id, truncated: false }))
            }
            Poll::Ready(Some(Err(fault))) => Err(Fault::Parse { message: fault.to_string() }),
            Poll::Ready(None) | Poll::Pending => Ok(None),
        }
    }
}

/// Cuts a block into what the parser gets at a time: all of it, or line by line.
fn pieces(mut block: Bytes) -> impl Iterator<Item = Bytes> {
    let is_small = block.len() <= ONE_PIECE;
    std::iter::from_fn(move || {
        let line_end = if is_small { None } else { memchr::memchr2(b'\n', b'\r', &block) };
        let end = match line_end {
            None => block.len(),
            Some(at) if block[at..].starts_with(b"\r\n") => at + 2,
            Some(at) => at + 1,
        };
        Some(block.split_to(end)).filter(|piece| !piece.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(parser: &mut EventParser, block: &str) -> Option<SseEvent> {
        parser.parse(Bytes::copy_from_slice(block.as_bytes())).unwrap()
    }

    #[expect(clippy::unnecessary_wraps, reason = "compared with an `Option` everywhere")]
    fn event(event: &str, data: &str, id: &str) -> Option<SseEvent> {
        Some(SseEvent { event: event.into(), data: data.into(), id: id.into(), truncated: false })
    }

    #[test]
    fn fields_have_the_meaning_of_the_standard() {
        let mut parser = EventParser::new();
        assert_eq!(parse(&mut parser, "data: a\ndata:b\ndata\n\n"), event("message", "a\nb\n", ""));
        assert_eq!(parse(&mut parser, "event: add\nid: 7\ndata:  c\n\n"), event("add", " c", "7"));
        assert_eq!(parse(&mut parser, "unknown: x\nretry: 10\ndata: d\n\n"), event("message", "d", "7"));
        assert_eq!(parse(&mut parser, "event: lonely\n\n"), None);
        assert_eq!(parse(&mut parser, "id\ndata: e\n\n"), event("message", "e", ""));
    }

    #[test]
    fn bare_carriage_returns_do_not_hold_an_event_back() {
        let mut parser = EventParser::new();
        assert_eq!(parse(&mut parser, "data: a\r\r"), event("message", "a", ""));
        assert_eq!(parse(&mut parser, "data: b\r\n\r"), event("message", "b", ""));
        assert_eq!(parse(&mut parser, "data: c\n\r"), event("message", "c", ""));
    }

    #[test]
    fn large_events_are_parsed_line_by_line_to_the_same_result() {
        let mut parser = EventParser::new();
        let long = "x".repeat(ONE_PIECE);
        for end in ["\n", "\r\n", "\r"] {
            let block = format!("event: big{end}data: {long}{end}data: tail{end}{end}");
            assert_eq!(parse(&mut parser, &block), event("big", &format!("{long}\ntail"), ""));
        }
    }

    #[test]
    fn a_large_event_reaches_the_parser_one_line_at_a_time() {
        for end in ["\n", "\r\n", "\r"] {
            let line = format!("data: x{end}");
            let block = line.repeat(ONE_PIECE);
            let cut: Vec<Bytes> = pieces(Bytes::from(block.clone())).collect();
            assert_eq!(cut.len(), ONE_PIECE, "{end:?}");
            assert!(cut.iter().all(|piece| piece == line.as_bytes()), "{end:?}");
        }
        let small = Bytes::from("data: x\n".repeat(10));
        assert_eq!(pieces(small.clone()).collect::<Vec<_>>(), [small]);
    }

    #[test]
    fn an_unfinished_event_is_closed_and_flagged() {
        for block in ["data: a", "data: a\n", "data: a\r", "data: a\r\n"] {
            let found =
                EventParser::new().parse_unfinished(Bytes::copy_from_slice(block.as_bytes())).unwrap();
            let expected = event("message", "a", "").map(|event| SseEvent { truncated: true, ..event });
            assert_eq!(found, expected, "{block:?}");
        }
    }

    #[test]
    fn a_second_byte_order_mark_is_part_of_a_field_name() {
        assert_eq!(parse(&mut EventParser::new(), "\u{feff}data: a\n\n"), None);
    }
}
