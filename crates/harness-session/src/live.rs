//! Raw chunks to live observers, beside the log and never waited for.
use std::sync::Arc;

use harness_llm::Chunk;
use tokio::sync::broadcast;

use crate::body::Step;

/// How many chunks a subscriber may fall behind before it is told what it missed.
pub(crate) const CAPACITY: usize = 4096;

/// One chunk as it arrived.
#[derive(Debug, Clone)]
pub struct LiveChunk {
    /// Where it happened.
    pub at: Step,
    /// The attempt within the step, counted from 1.
    pub attempt: u32,
    /// The chunk.
    pub chunk: Arc<Chunk>,
}

/// Why no chunk came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LiveError {
    /// The subscriber was too slow; so many chunks are gone from here (the log has them).
    #[error("{0} live chunks were missed")]
    Missed(u64),
    /// The session is gone.
    #[error("the session has ended")]
    Closed,
}

/// A subscription to live chunks.
#[derive(Debug)]
pub struct LiveReceiver(broadcast::Receiver<LiveChunk>);

impl LiveReceiver {
    pub(crate) fn new(receiver: broadcast::Receiver<LiveChunk>) -> Self {
        Self(receiver)
    }
    /// The next chunk. Cancel-safe.
    pub async fn next(&mut self) -> Result<LiveChunk, LiveError> {
        self.0.recv().await.map_err(|error| match error {
            broadcast::error::RecvError::Lagged(missed) => LiveError::Missed(missed),
            broadcast::error::RecvError::Closed => LiveError::Closed,
        })
    }
    /// The next chunk if one is already here.
    pub fn try_next(&mut self) -> Option<Result<LiveChunk, LiveError>> {
        match self.0.try_recv() {
            Ok(chunk) => Some(Ok(chunk)),
            Err(broadcast::error::TryRecvError::Lagged(missed)) => Some(Err(LiveError::Missed(missed))),
            Err(broadcast::error::TryRecvError::Empty) => None,
            Err(broadcast::error::TryRecvError::Closed) => Some(Err(LiveError::Closed)),
        }
    }
}
