//! The ways in which an event stream can fail.

/// A fault that ends an [`SseStream`](crate::SseStream). Nothing follows it.
///
/// `E` is the error of the byte stream underneath.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SseError<E> {
    /// The byte stream failed: connection lost, reset, timed out.
    ///
    /// `pending` is the number of bytes of an unfinished event that had arrived by then. Above
    /// zero, the connection broke in the middle of an event, not between two.
    #[error("event stream broke off with {pending} bytes of an unfinished event: {source}")]
    Transport {
        /// What the byte stream reported.
        source: E,
        /// Bytes of the unfinished event; they are discarded.
        pending: usize,
    },
    /// The bytes are not UTF-8, which the format requires.
    #[error("event stream is not UTF-8: invalid byte at offset {offset}")]
    InvalidUtf8 {
        /// Offset of the first invalid byte from the start of the stream.
        offset: u64,
    },
    /// One event is larger than the limit; raise it with
    /// [`SseStream::with_event_limit`](crate::SseStream::with_event_limit).
    #[error("one event is larger than the limit of {limit} bytes")]
    EventTooLarge {
        /// The limit in force, in bytes.
        limit: usize,
    },
    /// The event parser refused a complete event.
    #[error("event cannot be parsed: {message}")]
    Parse {
        /// What the parser said.
        message: String,
    },
}

impl<E> SseError<E> {
    /// A name for the fault that does not change between releases.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Transport { .. } => "SSE_TRANSPORT",
            Self::InvalidUtf8 { .. } => "SSE_INVALID_UTF8",
            Self::EventTooLarge { .. } => "SSE_EVENT_TOO_LARGE",
            Self::Parse { .. } => "SSE_PARSE",
        }
    }
}
