//! What every model adapter must do with a server, whatever its wire format.
//!
//! An adapter crate implements [`Bench`]: it starts a server that plays a [`Scenario`] in its wire format, and gives
//! back an adapter that talks to it. [`run`] plays all scenarios. For the chat completions format,
//! [`chat_completions`] says what the server sends.
mod checks;
mod wire;

use std::any::Any;
use std::sync::Arc;

use harness_llm::{CallConfig, LlmAdapter};

pub use self::checks::{check, run};
pub use self::wire::{Close, Script, chat_completions};

/// What the server does with one request. Texts and counts that the checks look for are constants of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scenario {
    /// Answers [`ANSWER`] in several pieces, one of which splits a character, and reports [`INPUT_TOKENS`] and
    /// [`OUTPUT_TOKENS`].
    Text,
    /// Reasons [`REASONING`] in several pieces, then answers [`ANSWER`].
    Reasoning,
    /// Asks for `first{"n":1}` and `second{"n":2}`, their arguments streamed in turns.
    ParallelCalls,
    /// Asks for two calls whose ids are empty.
    EmptyCallIds,
    /// Asks for a call with the id [`USED_CALL_ID`].
    UsedCallId,
    /// Hits the output limit in the middle of a call's arguments.
    CutAtLimit,
    /// Closes the connection after [`PARTIAL`], without an end marker.
    ClosedEarly,
    /// Closes the connection in the middle of an event, after [`PARTIAL`].
    CutInsideEvent,
    /// Resets the connection after [`PARTIAL`].
    Reset,
    /// Sends the head of a good response and closes the connection.
    HeadersOnly,
    /// Reports an error that says [`COMPLAINT`] after [`PARTIAL`].
    ErrorInStream,
    /// Sends an event that is not JSON.
    MalformedEvent,
    /// Stops without content, and reports usage.
    EmptyAnswer,
    /// Refuses the key with 401 and repeats it.
    Unauthorized,
    /// Refuses the rate with 429 and asks to wait [`WAIT_MS`].
    RateLimited,
    /// Fails with 500 and says [`COMPLAINT`].
    ServerError,
    /// Is not there: nothing listens on its port.
    Refused,
    /// Falls silent after [`PARTIAL`]. The adapter's idle limit must be well under a second.
    Silent,
    /// Accepts the request and never answers. The adapter's first-byte limit must be well under a second.
    SilentFromTheStart,
    /// As [`Silent`](Self::Silent), and the caller cancels. The adapter's limits must be beyond a minute.
    Cancelled,
    /// As [`SilentFromTheStart`](Self::SilentFromTheStart), and the caller cancels, likewise.
    CancelledBeforeTheHead,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Text,
        Self::Reasoning,
        Self::ParallelCalls,
        Self::EmptyCallIds,
        Self::UsedCallId,
        Self::CutAtLimit,
        Self::ClosedEarly,
        Self::CutInsideEvent,
        Self::Reset,
        Self::HeadersOnly,
        Self::ErrorInStream,
        Self::MalformedEvent,
        Self::EmptyAnswer,
        Self::Unauthorized,
        Self::RateLimited,
        Self::ServerError,
        Self::Refused,
        Self::Silent,
        Self::SilentFromTheStart,
        Self::Cancelled,
        Self::CancelledBeforeTheHead,
    ];

    /// Whether the adapter must give up on a silent server within a second; otherwise it must wait beyond a minute.
    pub fn wants_short_limits(self) -> bool {
        matches!(self, Self::Silent | Self::SilentFromTheStart)
    }
}

/// A whole answer.
pub const ANSWER: &str = "Grüße, world";
/// What precedes it.
pub const REASONING: &str = "think-A think-B";
/// The part of an answer that arrives before something goes wrong.
pub const PARTIAL: &str = "Let me compare";
/// What a failing server says.
pub const COMPLAINT: &str = "the server is on fire";
/// An id that the request's history has used.
pub const USED_CALL_ID: &str = "call_used";
/// The key that the adapter is given.
pub const KEY: &str = "sk-conformance-secret";
/// Reported prompt tokens.
pub const INPUT_TOKENS: u64 = 11;
/// Reported answer tokens.
pub const OUTPUT_TOKENS: u64 = 3;
/// The wait that a rate-limiting server asks for, in milliseconds.
pub const WAIT_MS: u64 = 7_000;

/// An adapter that talks to a server which plays one scenario.
pub struct Subject {
    /// The adapter, with [`KEY`] for its key.
    pub adapter: Arc<dyn LlmAdapter>,
    /// The call to make.
    pub config: CallConfig,
    /// Whatever must live as long as the server.
    pub server: Box<dyn Any + Send>,
}

/// Makes subjects.
pub trait Bench: Sync {
    /// Starts a server for one scenario.
    fn subject(&self, scenario: Scenario) -> impl Future<Output = Subject> + Send;
}
