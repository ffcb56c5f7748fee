//! The response body as a chunk stream.
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use harness_llm::{AdapterStream, Chunk, Failure, FailureCode, LlmError};
use harness_sse::{SseError, SseItem, SseStream};
use tokio::time::Sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::ending::Ending;
use crate::protocol::Decoder;

/// How long the finish is held for the last bytes of the body, which a server sends right after its end marker.
/// A connection whose response was read to its end can be used again; one that was not costs a new handshake.
const LAST_BYTES: Duration = Duration::from_millis(20);
/// How many events or comments are passed over meanwhile.
const LAST_ITEMS: u8 = 16;

/// Why the bytes of a response stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyFault {
    /// The peer closed the connection before the body was complete.
    #[error("the connection was closed before the response was complete")]
    ClosedEarly,
    /// The connection broke, for example by a reset.
    #[error("{0}")]
    Broken(String),
    /// The call was given up, for example after a silence.
    #[error("{0}")]
    Failed(Failure),
}

impl BodyFault {
    /// A name for the fault that does not change between releases.
    pub fn code(&self) -> &str {
        match self {
            Self::ClosedEarly => "BODY_CLOSED_EARLY",
            Self::Broken(_) => "BODY_BROKEN",
            Self::Failed(failure) => failure.code.as_str(),
        }
    }
}

/// Decodes a response body.
///
/// The stream ends with exactly one finish and never with an error. Cancelling `cancel` ends it with
/// [`FailureCode::ABORTED`] whatever the server does; the body is dropped then, which closes the connection, and
/// before the finish in any case. Needs a tokio runtime with time.
pub fn chunks<S>(body: S, decoder: Box<dyn Decoder>, cancel: CancellationToken) -> AdapterStream
where
    S: Stream<Item = Result<Bytes, BodyFault>> + Send + 'static,
{
    Box::pin(ChunkStream {
        events: Some(Box::pin(SseStream::new(body))),
        decoder,
        cancelled: Box::pin(cancel.cancelled_owned()),
        ready: VecDeque::new(),
        decoded: Vec::new(),
        last_bytes: None,
        last_items: LAST_ITEMS,
    })
}

struct ChunkStream<S> {
    /// `None` once nothing more is wanted of it.
    events: Option<Pin<Box<SseStream<S>>>>,
    decoder: Box<dyn Decoder>,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    ready: VecDeque<Chunk>,
    /// Kept for its capacity.
    decoded: Vec<Chunk>,
    /// Runs while the finish is held.
    last_bytes: Option<Pin<Box<Sleep>>>,
    /// What may still come meanwhile.
    last_items: u8,
}

impl<S> ChunkStream<S>
where
    S: Stream<Item = Result<Bytes, BodyFault>>,
{
    fn take(&mut self, item: Option<Result<SseItem, SseError<BodyFault>>>) {
        let out = &mut self.decoded;
        match item {
            Some(Ok(SseItem::Comment(_))) => {}
            Some(Ok(SseItem::Event(event))) if event.truncated => {
                self.decoder.end(Ending::Truncated { data: Some(&event.data) }, out);
            }
            Some(Ok(SseItem::Event(event))) => self.decoder.push(&event.event, &event.data, out),
            Some(Err(fault)) => {
                self.decoder.end(ending(&fault), out);
                self.events = None;
            }
            None => {
                let end = self.events.as_ref().and_then(|events| events.end());
                let is_cut = end == Some(harness_sse::StreamEnd::Truncated);
                let ending = if is_cut { Ending::Truncated { data: None } } else { Ending::Clean };
                self.decoder.end(ending, out);
                self.events = None;
            }
        }
        self.ready.extend(self.decoded.drain(..));
    }

    /// Reads on behind the end marker until the body has ended or has had its time.
    fn poll_last_bytes(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(events) = &mut self.events {
            match events.as_mut().poll_next(context) {
                Poll::Ready(Some(Ok(_))) if self.last_items > 0 => self.last_items -= 1,
                Poll::Ready(_) => self.events = None,
                Poll::Pending => {
                    let sleep =
                        self.last_bytes.get_or_insert_with(|| Box::pin(tokio::time::sleep(LAST_BYTES)));
                    ready!(sleep.as_mut().poll(context));
                    self.events = None;
                }
            }
        }
        Poll::Ready(())
    }

    /// Gives up on the server and on what was decoded but not taken yet.
    fn abort(&mut self) {
        self.events = None;
        if !self.decoder.is_over() {
            self.ready.clear();
            self.decoder.end(Ending::Failed(Failure::aborted()), &mut self.decoded);
            self.ready.extend(self.decoded.drain(..));
        }
    }
}

fn ending(fault: &SseError<BodyFault>) -> Ending<'_> {
    match fault {
        SseError::Transport { source: BodyFault::ClosedEarly, pending: 0 } => Ending::Clean,
        SseError::Transport { source: BodyFault::ClosedEarly, .. } => Ending::Truncated { data: None },
        SseError::Transport { source: BodyFault::Broken(detail), pending } => {
            Ending::Broken { detail, pending: *pending }
        }
        SseError::Transport { source: BodyFault::Failed(failure), .. } => Ending::Failed(failure.clone()),
        other => {
            let text = format!("the response of the model server is not a usable event stream: {other}");
            Ending::Failed(Failure::new(FailureCode::MALFORMED_RESPONSE, text))
        }
    }
}

impl<S> Stream for ChunkStream<S>
where
    S: Stream<Item = Result<Bytes, BodyFault>>,
{
    type Item = Result<Chunk, LlmError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if this.cancelled.as_mut().poll(context).is_ready() {
            this.abort();
        }
        loop {
            if this.decoder.is_over() && this.ready.len() <= 1 {
                ready!(this.poll_last_bytes(context));
            }
            if let Some(chunk) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(chunk)));
            }
            let Some(events) = &mut this.events else { return Poll::Ready(None) };
            let item = ready!(events.as_mut().poll_next(context));
            this.take(item);
        }
    }
}
