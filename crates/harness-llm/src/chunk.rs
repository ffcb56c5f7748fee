//! The stream protocol between an adapter and everything else.
use serde::{Deserialize, Serialize};

use crate::block::{Block, BlockKind};
use crate::failure::Failure;

/// One event of a model stream. The order rules are in [`crate::ProtocolChecker`].
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// A block opens. Indices rise by first appearance.
    BlockStart {
        /// Position among the message's blocks.
        index: u32,
        /// What the block is.
        kind: BlockKind,
    },
    /// More text for an open text block.
    TextDelta {
        /// The block.
        index: u32,
        /// The piece, never empty.
        text: String,
    },
    /// More reasoning for an open reasoning block.
    ReasoningDelta {
        /// The block.
        index: u32,
        /// The piece, never empty.
        text: String,
    },
    /// More argument text for an open tool call.
    ToolCallDelta {
        /// The block.
        index: u32,
        /// The piece of JSON text.
        arguments: String,
    },
    /// A block closes.
    BlockEnd {
        /// The block.
        index: u32,
        /// The final block where it differs from what the deltas add up to; `None` means "as streamed".
        block: Option<Block>,
    },
    /// What the call used: at most once, before the finish.
    Usage(Usage),
    /// The end: exactly once, last.
    Finish(Finish),
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finish {
    /// Why it ended.
    pub reason: FinishReason,
    /// Opaque data that only this adapter may read back from history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_state: Option<serde_json::Value>,
}
impl From<FinishReason> for Finish {
    fn from(reason: FinishReason) -> Self {
        Self { reason, replay_state: None }
    }
}

/// Why a stream ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The model waits for tool results.
    ToolCalls,
    /// The output limit cut the answer.
    MaxTokens,
    /// The caller cancelled.
    Aborted {
        /// The facts.
        failure: Failure,
    },
    /// The call failed.
    Error {
        /// The facts.
        failure: Failure,
    },
}
impl FinishReason {
    /// The failure, if the stream did not end well.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Aborted { failure } | Self::Error { failure } => Some(failure),
            Self::Stop | Self::ToolCalls | Self::MaxTokens => None,
        }
    }
}

/// Token counts. Disjoint: `input` excludes cached tokens, `reasoning` is a part of `output`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens that were not read from a cache.
    pub input: u64,
    /// Answer tokens, reasoning included.
    pub output: u64,
    /// Prompt tokens read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Prompt tokens written to the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// The part of `output` that was reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}
impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        fn add(a: &mut Option<u64>, b: Option<u64>) {
            if let Some(b) = b {
                *a = Some(a.unwrap_or(0).saturating_add(b));
            }
        }
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        add(&mut self.cache_read, other.cache_read);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.reasoning, other.reasoning);
    }
}
