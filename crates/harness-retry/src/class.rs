//! Which failures are worth another attempt.
use harness_llm::FailureCode;
use serde::{Deserialize, Serialize};

/// The kinds of failure that may pass by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// Too many requests.
    RateLimit,
    /// The provider failed.
    Server,
    /// Nothing arrived in time.
    Timeout,
    /// The connection could not be made or broke.
    Transport,
    /// The stream ended before its end.
    StreamCut,
    /// The response could not be understood.
    Malformed,
    /// The model said nothing.
    Empty,
}

impl FailureClass {
    /// The class of a failure; `None` if asking again cannot help or nobody knows whether it would.
    pub fn of(code: &FailureCode) -> Option<Self> {
        let classes = [
            (FailureCode::RATE_LIMIT, Self::RateLimit),
            (FailureCode::SERVER, Self::Server),
            (FailureCode::TIMEOUT, Self::Timeout),
            (FailureCode::TRANSPORT, Self::Transport),
            (FailureCode::STREAM_CLOSED, Self::StreamCut),
            (FailureCode::MALFORMED_RESPONSE, Self::Malformed),
            (FailureCode::EMPTY_RESPONSE, Self::Empty),
        ];
        classes.into_iter().find(|(known, _)| known == code).map(|(_, class)| class)
    }
}
