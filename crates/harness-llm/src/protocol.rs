//! The always-on checker of the chunk protocol.
use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use crate::adapter::AdapterStream;
use crate::block::BlockKind;
use crate::chunk::{Chunk, FinishReason};
use crate::failure::{Failure, FailureCode, LlmError};
use crate::runtime::ChunkStream;

/// A broken rule of the chunk protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A start for an index that was already used.
    #[error("block {0} is started twice")]
    Restarted(u32),
    /// Indices must rise by first appearance.
    #[error("block {got} starts after block {last}")]
    OutOfOrder {
        /// The index that came.
        got: u32,
        /// The highest index so far.
        last: u32,
    },
    /// A delta or an end without an open block.
    #[error("block {0} is not open")]
    NotOpen(u32),
    /// A delta or a final block of another type.
    #[error("block {index} is a {open} block, got {got}")]
    WrongType {
        /// The block.
        index: u32,
        /// Type at its start.
        open: &'static str,
        /// Type that came.
        got: &'static str,
    },
    /// Usage twice.
    #[error("usage is reported twice")]
    SecondUsage,
    /// Something after the finish.
    #[error("a chunk follows the finish")]
    AfterFinish,
    /// A good finish with open blocks.
    #[error("the stream finishes with block {0} open")]
    OpenAtFinish(u32),
}

fn kind_name(kind: &BlockKind) -> &'static str {
    match kind {
        BlockKind::Text => "text",
        BlockKind::Reasoning => "reasoning",
        BlockKind::ToolCall { .. } => "tool-call",
        BlockKind::Other { .. } => "other",
    }
}

/// Checks one stream, chunk by chunk.
///
/// Rules: a block is started once, indices rise by first appearance, deltas and the end name an open block of
/// their type; usage comes at most once and before the finish; exactly one finish, last, and no open block at
/// a finish other than error or aborted.
#[derive(Debug, Default)]
pub struct ProtocolChecker {
    open: BTreeMap<u32, &'static str>,
    highest: Option<u32>,
    used: bool,
    finished: bool,
}

impl ProtocolChecker {
    /// Takes the next chunk or says which rule it breaks.
    pub fn check(&mut self, chunk: &Chunk) -> Result<(), Violation> {
        if self.finished {
            return Err(Violation::AfterFinish);
        }
        match chunk {
            Chunk::BlockStart { index, kind } => self.start(*index, kind),
            Chunk::TextDelta { index, .. } => self.expect(*index, "text"),
            Chunk::ReasoningDelta { index, .. } => self.expect(*index, "reasoning"),
            Chunk::ToolCallDelta { index, .. } => self.expect(*index, "tool-call"),
            Chunk::BlockEnd { index, block } => {
                match block {
                    Some(block) => self.expect(*index, kind_name(&block.kind()))?,
                    None if self.open.contains_key(index) => {}
                    None => return Err(Violation::NotOpen(*index)),
                }
                self.open.remove(index);
                Ok(())
            }
            Chunk::Usage(_) if self.used => Err(Violation::SecondUsage),
            Chunk::Usage(_) => {
                self.used = true;
                Ok(())
            }
            Chunk::Finish(finish) => {
                self.finished = true;
                match self.open.keys().next() {
                    Some(index) if finish.reason.failure().is_none() => Err(Violation::OpenAtFinish(*index)),
                    _ => Ok(()),
                }
            }
        }
    }
    /// Whether the finish was seen.
    pub fn finished(&self) -> bool {
        self.finished
    }
    fn start(&mut self, index: u32, kind: &BlockKind) -> Result<(), Violation> {
        match self.highest {
            Some(last) if index == last || self.open.contains_key(&index) => {
                return Err(Violation::Restarted(index));
            }
            Some(last) if index < last => return Err(Violation::OutOfOrder { got: index, last }),
            _ => {}
        }
        self.highest = Some(index);
        self.open.insert(index, kind_name(kind));
        Ok(())
    }
    fn expect(&self, index: u32, got: &'static str) -> Result<(), Violation> {
        match self.open.get(&index) {
            None => Err(Violation::NotOpen(index)),
            Some(open) if *open != got => Err(Violation::WrongType { index, open, got }),
            Some(_) => Ok(()),
        }
    }
}

/// Turns every way in which an adapter's stream can end into exactly one terminal finish, and checks the rest.
///
/// An error becomes `aborted` when its code says so, else `error`; a stream without a finish becomes
/// [`FailureCode::STREAM_CLOSED`]; a broken rule becomes [`FailureCode::PROTOCOL_VIOLATION`].
pub struct CheckedStream {
    inner: Option<AdapterStream>,
    checker: ProtocolChecker,
}

impl CheckedStream {
    /// Wraps an adapter's stream.
    pub fn boxed(inner: AdapterStream) -> ChunkStream {
        Box::pin(Self { inner: Some(inner), checker: ProtocolChecker::default() })
    }
    /// A stream that is nothing but a failure.
    pub fn failed(error: LlmError) -> ChunkStream {
        Box::pin(futures_util::stream::iter([terminal(error.0)]))
    }
    fn end(&mut self, failure: Failure) -> Poll<Option<Chunk>> {
        self.inner = None;
        Poll::Ready(Some(terminal(failure)))
    }
}

fn terminal(failure: Failure) -> Chunk {
    let reason = if failure.code == FailureCode::ABORTED {
        FinishReason::Aborted { failure }
    } else {
        FinishReason::Error { failure }
    };
    Chunk::Finish(reason.into())
}

impl Stream for CheckedStream {
    type Item = Chunk;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Chunk>> {
        let Some(inner) = self.inner.as_mut() else { return Poll::Ready(None) };
        match inner.as_mut().poll_next(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(chunk))) => match self.checker.check(&chunk) {
                Ok(()) => {
                    if self.checker.finished() {
                        self.inner = None;
                    }
                    Poll::Ready(Some(chunk))
                }
                Err(violation) => {
                    let text = format!("the model stream broke the chunk protocol: {violation}");
                    self.end(Failure::new(FailureCode::PROTOCOL_VIOLATION, text))
                }
            },
            Poll::Ready(Some(Err(error))) => self.end(error.0),
            Poll::Ready(None) => self.end(Failure::new(
                FailureCode::STREAM_CLOSED,
                "the model stream ended without its terminal marker; the answer may be cut off",
            )),
        }
    }
}
