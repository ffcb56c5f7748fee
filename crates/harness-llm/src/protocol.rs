//! The always-on checker of the chunk protocol.
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use harness_kernel::contain_sync;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

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
        open: Cow<'static, str>,
        /// Type that came.
        got: Cow<'static, str>,
    },
    /// A block of which no deltas come must arrive with its end.
    #[error("block {0} ends without the block itself")]
    NoBlock(u32),
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

impl Violation {
    /// A stable code for each variant.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Restarted(_) => "block-restarted",
            Self::OutOfOrder { .. } => "block-out-of-order",
            Self::NotOpen(_) => "block-not-open",
            Self::WrongType { .. } => "block-wrong-type",
            Self::NoBlock(_) => "block-missing",
            Self::SecondUsage => "usage-repeated",
            Self::AfterFinish => "chunk-after-finish",
            Self::OpenAtFinish(_) => "block-open-at-finish",
        }
    }
}

const STREAMED: [&str; 3] = ["text", "reasoning", "tool-call"];

fn kind_name(kind: BlockKind) -> Cow<'static, str> {
    match kind {
        BlockKind::Text => "text".into(),
        BlockKind::Reasoning => "reasoning".into(),
        BlockKind::ToolCall { .. } => "tool-call".into(),
        BlockKind::Other { name } => name.into(),
    }
}

/// Checks one stream, chunk by chunk.
///
/// Rules: a block is started once, indices rise by first appearance, deltas and the end name an open block of
/// their type, and a block of another type than text, reasoning and tool call arrives whole with its end; usage
/// comes at most once and before the finish; exactly one finish, last, and no open block at a finish other than
/// error or aborted.
#[derive(Debug, Default)]
pub struct ProtocolChecker {
    open: BTreeMap<u32, Cow<'static, str>>,
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
            Chunk::TextDelta { index, .. } => self.expect(*index, "text".into()),
            Chunk::ReasoningDelta { index, .. } => self.expect(*index, "reasoning".into()),
            Chunk::ToolCallDelta { index, .. } => self.expect(*index, "tool-call".into()),
            Chunk::BlockEnd { index, block } => {
                match (block, self.open.get(index)) {
                    (Some(block), _) => self.expect(*index, kind_name(block.kind()))?,
                    (None, Some(open)) if STREAMED.contains(&&**open) => {}
                    (None, Some(_)) => return Err(Violation::NoBlock(*index)),
                    (None, None) => return Err(Violation::NotOpen(*index)),
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
        self.open.insert(index, kind_name(kind.clone()));
        Ok(())
    }
    fn expect(&self, index: u32, got: Cow<'static, str>) -> Result<(), Violation> {
        match self.open.get(&index) {
            None => Err(Violation::NotOpen(index)),
            Some(open) if *open != got => Err(Violation::WrongType { index, open: open.clone(), got }),
            Some(_) => Ok(()),
        }
    }
}

/// Turns every way in which an adapter's stream can end into exactly one terminal finish, and checks the rest.
///
/// An error becomes `aborted` when the caller cancelled or the error's code says so, else `error`; a stream without
/// a finish becomes [`FailureCode::STREAM_CLOSED`], a broken rule [`FailureCode::PROTOCOL_VIOLATION`], a panic
/// [`FailureCode::LISTENER_PANICKED`]. After the caller cancelled, chunks that are there are still given, but nothing
/// is waited for.
pub struct CheckedStream {
    inner: Option<AdapterStream>,
    checker: ProtocolChecker,
    cancel: CancellationToken,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl CheckedStream {
    /// Wraps an adapter's stream. `cancel` is the caller's.
    pub fn boxed(inner: AdapterStream, cancel: CancellationToken) -> ChunkStream {
        let cancelled = Box::pin(cancel.clone().cancelled_owned());
        Box::pin(Self { inner: Some(inner), checker: ProtocolChecker::default(), cancel, cancelled })
    }
    /// A stream that is nothing but a failure.
    pub fn failed(error: LlmError, cancel: &CancellationToken) -> ChunkStream {
        Box::pin(futures_util::stream::iter([terminal(error.0, cancel)]))
    }
    fn end(&mut self, failure: Failure) -> Poll<Option<Chunk>> {
        self.inner = None;
        Poll::Ready(Some(terminal(failure, &self.cancel)))
    }
}

fn terminal(failure: Failure, cancel: &CancellationToken) -> Chunk {
    let reason = if cancel.is_cancelled() || failure.code == FailureCode::ABORTED {
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
        let next = match contain_sync(|| inner.as_mut().poll_next(cx)) {
            Ok(Poll::Ready(next)) => next,
            Ok(Poll::Pending) => {
                return match self.cancelled.as_mut().poll(cx) {
                    Poll::Ready(()) => self.end(Failure::aborted()),
                    Poll::Pending => Poll::Pending,
                };
            }
            Err(panic) => {
                let text = format!("the model stream {panic}");
                return self.end(Failure::new(FailureCode::LISTENER_PANICKED, text));
            }
        };
        match next {
            Some(Ok(chunk)) => match self.checker.check(&chunk) {
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
            Some(Err(error)) => self.end(error.0),
            None => self.end(Failure::new(
                FailureCode::STREAM_CLOSED,
                "the model stream ended without its terminal marker; the answer may be cut off",
            )),
        }
    }
}
