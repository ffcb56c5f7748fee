//! Why a model call failed, as data that survives the log.
use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A stable, routable word for a failure. Open: a provider's own code passes through.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FailureCode(Cow<'static, str>);

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        impl FailureCode { $($(#[$doc])* pub const $name: Self = Self(Cow::Borrowed($text));)* }
    };
}
codes! {
    /// The caller cancelled.
    ABORTED = "ABORTED";
    /// The key was refused (401, 403).
    AUTH = "AUTH";
    /// No key is configured for the provider.
    MISSING_CREDENTIAL = "MISSING_CREDENTIAL";
    /// The configured endpoint is not a usable URL.
    INVALID_ENDPOINT = "INVALID_ENDPOINT";
    /// The provider route is not registered.
    UNKNOWN_PROVIDER = "UNKNOWN_PROVIDER";
    /// The provider does not serve this model.
    UNKNOWN_MODEL = "UNKNOWN_MODEL";
    /// The request was refused as malformed (400, 413, 422).
    INVALID_REQUEST = "INVALID_REQUEST";
    /// The request is longer than the model's context window.
    CONTEXT_WINDOW_EXCEEDED = "CONTEXT_WINDOW_EXCEEDED";
    /// The account has no credit left.
    QUOTA = "QUOTA";
    /// Too many requests (429).
    RATE_LIMIT = "RATE_LIMIT";
    /// The provider failed (5xx).
    SERVER = "SERVER";
    /// Nothing arrived within the deadline.
    TIMEOUT = "TIMEOUT";
    /// The connection could not be made or broke.
    TRANSPORT = "TRANSPORT";
    /// The stream ended before its terminal marker.
    STREAM_CLOSED = "STREAM_CLOSED";
    /// The response could not be understood.
    MALFORMED_RESPONSE = "MALFORMED_RESPONSE";
    /// The model stopped without saying anything.
    EMPTY_RESPONSE = "EMPTY_RESPONSE";
    /// The provider withheld the answer.
    CONTENT_FILTER = "CONTENT_FILTER";
    /// An adapter or a stream listener broke the chunk protocol.
    PROTOCOL_VIOLATION = "PROTOCOL_VIOLATION";
    /// The request differs from what the session log derives.
    REQUEST_NOT_LOGGED = "REQUEST_NOT_LOGGED";
    /// An adapter, or a listener around the stream, panicked.
    LISTENER_PANICKED = "LISTENER_PANICKED";
}
impl FailureCode {
    /// A provider's own code.
    pub fn other(code: impl Into<String>) -> Self {
        Self(Cow::Owned(code.into()))
    }
    /// The word itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A failed model call: what the log, the person and a retry policy need to know. Never holds a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// For people: what happened and what to do.
    pub message: String,
    /// For programs.
    pub code: FailureCode,
    /// HTTP status, 100 to 599.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long the provider asks to wait, in milliseconds; positive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The provider's name for this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
impl Failure {
    /// A failure with a message and a code only.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { message: message.into(), code, status: None, retry_after_ms: None, request_id: None }
    }
    /// The caller cancelled.
    pub fn aborted() -> Self {
        Self::new(FailureCode::ABORTED, "the model call was cancelled")
    }
}
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

/// A failure as an error: what adapters return and throw.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LlmError(pub Failure);
impl LlmError {
    /// An error with a code and a message.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self(Failure::new(code, message))
    }
    /// The stable code.
    pub fn code(&self) -> &str {
        self.0.code.as_str()
    }
}
impl From<Failure> for LlmError {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}
