//! Deadlines for a response that streams: one until its first byte, one for each silence after.

use std::time::Duration;

use tokio::time::Instant;

use crate::timed_body::TimedBody;

/// How long a streaming response may keep its reader waiting. There is no limit on the whole.
///
/// A duration too large for the clock, such as [`Duration::MAX`], means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamTimeouts {
    /// From the request until the first byte of the body. Default 5 min.
    pub first_byte: Duration,
    /// Between two chunks of the body, whatever they hold: a comment that keeps the connection
    /// open counts. Default 5 min.
    pub idle: Duration,
}

impl Default for StreamTimeouts {
    fn default() -> Self {
        Self { first_byte: Duration::from_mins(5), idle: Duration::from_mins(5) }
    }
}

impl StreamTimeouts {
    /// Starts the first-byte deadline; call it right before sending the request.
    pub fn start(self) -> ResponseTimer {
        ResponseTimer { timeouts: self, first_byte_by: Instant::now().checked_add(self.first_byte) }
    }
}

/// The clock of one response.
#[derive(Debug, Clone, Copy)]
pub struct ResponseTimer {
    pub(crate) timeouts: StreamTimeouts,
    pub(crate) first_byte_by: Option<Instant>,
}

impl ResponseTimer {
    /// Waits for the head of the response, which is part of the wait for the first byte.
    ///
    /// # Errors
    /// [`TimeoutError::FirstByte`] if the deadline passes first; `request` is dropped then.
    pub async fn head<F: Future>(&self, request: F) -> Result<F::Output, TimeoutError> {
        let Some(deadline) = self.first_byte_by else { return Ok(request.await) };
        let limit = self.timeouts.first_byte;
        tokio::time::timeout_at(deadline, request).await.map_err(|_| TimeoutError::FirstByte { limit })
    }

    /// Watches over the body of the response.
    pub fn body<S>(self, body: S) -> TimedBody<S> {
        TimedBody::new(body, self)
    }
}

/// A response that kept its reader waiting for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeoutError {
    /// Nothing of the body came in time.
    #[error("no response data within {limit:?} of the request")]
    FirstByte {
        /// [`StreamTimeouts::first_byte`].
        limit: Duration,
    },
    /// The body fell silent.
    #[error("the response fell silent for {limit:?}")]
    Idle {
        /// [`StreamTimeouts::idle`].
        limit: Duration,
    },
}

impl TimeoutError {
    /// A name for the fault that does not change between releases.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::FirstByte { .. } => "HTTP_FIRST_BYTE_TIMEOUT",
            Self::Idle { .. } => "HTTP_IDLE_TIMEOUT",
        }
    }
}
