//! The response body as a chunk stream.
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use harness_llm::{AdapterStream, Chunk, Failure, FailureCode, LlmError};
use harness_sse::{SseError, SseItem, SseStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::decode::{Ending, StreamDecoder};

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
/// [`FailureCode::ABORTED`] whatever the server does; then, and after the finish, the body is dropped, which closes
/// the connection.
pub fn chunks<S>(body: S, decoder: StreamDecoder, cancel: CancellationToken) -> AdapterStream
where
    S: Stream<Item = Result<Bytes, BodyFault>> + Send + 'static,
{
    Box::pin(ChunkStream {
        events: Some(Box::pin(SseStream::new(body))),
        decoder,
        cancelled: Box::pin(cancel.cancelled_owned()),
        ready: VecDeque::new(),
        decoded: Vec::new(),
    })
}

struct ChunkStream<S> {
    /// `None` once nothing more is wanted of it.
    events: Option<Pin<Box<SseStream<S>>>>,
    decoder: StreamDecoder,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    ready: VecDeque<Chunk>,
    /// Kept for its capacity.
    decoded: Vec<Chunk>,
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
            Some(Ok(SseItem::Event(event))) if event.event == "error" => {
                self.decoder.push_error(&event.data, out);
            }
            Some(Ok(SseItem::Event(event))) => self.decoder.push(&event.data, out),
            Some(Err(fault)) => self.decoder.end(ending(&fault), out),
            None => {
                let end = self.events.as_ref().and_then(|events| events.end());
                let is_cut = end == Some(harness_sse::StreamEnd::Truncated);
                let ending = if is_cut { Ending::Truncated { data: None } } else { Ending::Clean };
                self.decoder.end(ending, out);
            }
        }
        self.ready.extend(self.decoded.drain(..));
        if self.decoder.is_over() {
            self.events = None;
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
        loop {
            if !this.decoder.is_over() && this.cancelled.as_mut().poll(context).is_ready() {
                // What was decoded but not taken yet is given up with the rest.
                this.ready.clear();
                this.decoder.end(Ending::Failed(Failure::aborted()), &mut this.decoded);
                this.ready.extend(this.decoded.drain(..));
                this.events = None;
            }
            if let Some(chunk) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(chunk)));
            }
            let Some(events) = &mut this.events else { return Poll::Ready(None) };
            match events.as_mut().poll_next(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(item) => this.take(item),
            }
        }
    }
}
