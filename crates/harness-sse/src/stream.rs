//! The public stream: bytes in, events out.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use pin_project_lite::pin_project;

use crate::error::SseError;
use crate::event::{SseItem, StreamEnd};
use crate::framer::{Frame, Framer};
use crate::parser::{EventParser, Fault};
use crate::text::TextGate;

/// Largest event accepted unless set otherwise: 8 MiB.
pub const DEFAULT_EVENT_LIMIT: usize = 8 * 1024 * 1024;

pin_project! {
    /// Server-sent events of a byte stream.
    ///
    /// The items depend only on the bytes, never on how they were cut into chunks. Memory is
    /// bounded by the event limit, time is linear in the bytes. After an error the stream is over.
    ///
    /// Dropping it drops the byte stream underneath; nothing runs in the background.
    #[must_use = "streams do nothing unless polled"]
    pub struct SseStream<S> {
        #[pin]
        source: S,
        text: TextGate,
        framer: Framer,
        parser: EventParser,
        // The rest of a chunk whose front completed a split character.
        next_text: Bytes,
        // Offset of an invalid byte, reported once all events before it are out.
        invalid_at: Option<u64>,
        is_over: bool,
        end: Option<StreamEnd>,
    }
}

impl<S> SseStream<S> {
    /// Reads events from `source`, each at most [`DEFAULT_EVENT_LIMIT`] bytes.
    pub fn new(source: S) -> Self {
        Self::with_event_limit(source, DEFAULT_EVENT_LIMIT)
    }

    /// Reads events from `source`, each at most `limit` bytes long, counted over its lines
    /// without the closing blank line.
    pub fn with_event_limit(source: S, limit: usize) -> Self {
        Self {
            source,
            text: TextGate::default(),
            framer: Framer::new(limit),
            parser: EventParser::new(),
            next_text: Bytes::new(),
            invalid_at: None,
            is_over: false,
            end: None,
        }
    }

    /// How the byte stream ended; `None` while it runs and after an error.
    pub fn end(&self) -> Option<StreamEnd> {
        self.end
    }
}

impl<S, E> Stream for SseStream<S>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    type Item = Result<SseItem, SseError<E>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        if *this.is_over {
            return Poll::Ready(None);
        }
        loop {
            match next_item(this.framer, this.parser) {
                Ok(Some(item)) => return Poll::Ready(Some(Ok(item))),
                Ok(None) => {}
                Err(fault) => {
                    *this.is_over = true;
                    return Poll::Ready(Some(Err(fault.into())));
                }
            }
            if !this.next_text.is_empty() {
                this.framer.push(std::mem::take(this.next_text));
                continue;
            }
            if let Some(offset) = this.invalid_at.take() {
                *this.is_over = true;
                return Poll::Ready(Some(Err(SseError::InvalidUtf8 { offset })));
            }
            match ready!(this.source.as_mut().poll_next(context)) {
                Some(Ok(chunk)) => {
                    let checked = this.text.check(chunk);
                    *this.invalid_at = checked.invalid_at;
                    if checked.joined.is_empty() {
                        this.framer.push(checked.text);
                    } else {
                        this.framer.push(checked.joined);
                        *this.next_text = checked.text;
                    }
                }
                Some(Err(source)) => {
                    *this.is_over = true;
                    let pending = this.framer.unfinished();
                    return Poll::Ready(Some(Err(SseError::Transport { source, pending })));
                }
                None => {
                    *this.is_over = true;
                    let rest = this.framer.finish();
                    let is_clean = rest.is_empty() && !this.text.is_inside_character();
                    *this.end = Some(if is_clean { StreamEnd::Clean } else { StreamEnd::Truncated });
                    return Poll::Ready(match this.parser.parse_unfinished(rest) {
                        Ok(event) => event.map(|event| Ok(SseItem::Event(event))),
                        Err(fault) => Some(Err(fault.into())),
                    });
                }
            }
        }
    }
}

/// The next item of the text pushed so far; blocks without data are passed over.
fn next_item(framer: &mut Framer, parser: &mut EventParser) -> Result<Option<SseItem>, Fault> {
    while let Some(frame) = framer.next_frame()? {
        match frame {
            Frame::Comment(text) => {
                return Ok(Some(SseItem::Comment(String::from_utf8_lossy(&text).into_owned())));
            }
            Frame::Event(block) => {
                if let Some(event) = parser.parse(block)? {
                    return Ok(Some(SseItem::Event(event)));
                }
            }
        }
    }
    Ok(None)
}

impl<E> From<Fault> for SseError<E> {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::TooLarge { limit } => Self::EventTooLarge { limit },
            Fault::Parse { message } => Self::Parse { message },
        }
    }
}
