//! Why nothing was compacted.
use harness_llm::Failure;
use harness_session::AppendError;

/// Why a compaction left the history as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompactError {
    /// There is no older history that a summary could replace.
    #[error("there is no older history to compact")]
    Nothing,
    /// A turn is running; a compaction on request needs an idle agent.
    #[error("the agent is busy: wait until its turn is over")]
    Busy,
    /// A listener said no.
    #[error("compaction was rejected: {0}")]
    Rejected(String),
    /// It was cancelled.
    #[error("compaction was cancelled")]
    Cancelled,
    /// The model call for the summary failed.
    #[error("the summary could not be made: {0}")]
    Model(Failure),
    /// What the model said is no summary.
    #[error("the model did not give a usable summary: {0}")]
    Unusable(&'static str),
    /// The summary would not save anything.
    #[error(
        "the summary did not shrink the history: it weighs {summary} tokens and would replace {replaced}"
    )]
    NotSmaller {
        /// Tokens of the replaced range.
        replaced: u64,
        /// Tokens of the summary.
        summary: u64,
    },
    /// The history changed meanwhile.
    #[error("the history changed while the summary was made")]
    Changed,
    /// A listener of `compact/before` failed.
    #[error("a listener of compact/before failed: {0}")]
    Listener(String),
    /// The log refused an event.
    #[error(transparent)]
    Append(#[from] AppendError),
}
impl CompactError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Nothing => "COMPACT_NOTHING",
            Self::Busy => "COMPACT_BUSY",
            Self::Rejected(_) => "COMPACT_REJECTED",
            Self::Cancelled => "COMPACT_CANCELLED",
            Self::Model(_) => "COMPACT_MODEL",
            Self::Unusable(_) => "COMPACT_UNUSABLE",
            Self::NotSmaller { .. } => "COMPACT_NOT_SMALLER",
            Self::Changed => "COMPACT_CHANGED",
            Self::Listener(_) => "COMPACT_LISTENER",
            Self::Append(error) => error.code(),
        }
    }
}
