//! What every model adapter must do with a server, whatever its wire format.
//!
//! An adapter crate implements [`Bench`]: what a server sends in each [`Scenario`] in its wire format, and an adapter
//! for such a server. [`run`] plays all scenarios over real sockets, and the good ones in every framing that the event
//! stream format allows.
mod checks;
mod framing;
mod script;
mod serve;

use std::sync::Arc;
use std::time::Duration;

use harness_llm::{CallConfig, LlmAdapter};

pub use self::checks::{check, run};
pub use self::script::{Close, Script, events};

/// What the server does with one request. Texts and counts that the checks look for are constants of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// Answers [`ANSWER`] in several pieces, one of which splits a character, and reports [`INPUT_TOKENS`] and
    /// [`OUTPUT_TOKENS`].
    Text,
    /// Reasons [`REASONING`] in several pieces, then answers [`ANSWER`].
    Reasoning,
    /// Asks for `first{"n":1}` and `second{"n":2}`, their arguments streamed in turns.
    ParallelCalls,
    /// Asks for `first{"n":1}` and `second{"n":2}` one after the other, the numbers that tell their pieces apart
    /// missing or repeated.
    UnnumberedCalls,
    /// Asks for `first` without any arguments.
    EmptyArguments,
    /// Asks for two calls whose ids are empty, or have none where the format cannot say it.
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
    /// Answers [`ANSWER`] between events, fields and values that no version of the format has.
    UnknownEvents,
    /// Answers [`HALVED`], the escape of half a character in its middle.
    LoneSurrogate,
    /// Answers [`LONG_ANSWER`] letters `x` in one event.
    LongLine,
    /// Answers [`ANSWER`] and reports counts that are null or zero.
    NoUsage,
    /// Answers [`ANSWER`] and reports its counts more than once and not where they belong; the last ones are
    /// [`INPUT_TOKENS`] and [`OUTPUT_TOKENS`].
    OddUsage,
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
    pub const ALL: [Self; 28] = [
        Self::Text,
        Self::Reasoning,
        Self::ParallelCalls,
        Self::UnnumberedCalls,
        Self::EmptyArguments,
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
        Self::UnknownEvents,
        Self::LoneSurrogate,
        Self::LongLine,
        Self::NoUsage,
        Self::OddUsage,
        Self::Unauthorized,
        Self::RateLimited,
        Self::ServerError,
        Self::Refused,
        Self::Silent,
        Self::SilentFromTheStart,
        Self::Cancelled,
        Self::CancelledBeforeTheHead,
    ];

    /// How long the adapter must wait for a silent server: less than a second where it must give up, beyond a minute
    /// where something else must end the call.
    fn patience(self) -> Duration {
        let gives_up = matches!(self, Self::Silent | Self::SilentFromTheStart);
        if gives_up { Duration::from_millis(200) } else { Duration::from_mins(5) }
    }
}

/// A whole answer.
pub const ANSWER: &str = "Grüße, world";
/// An answer with half a character, as it must come out.
pub const HALVED: &str = "half \u{fffd} done";
/// Length of a long answer: more than any buffer, less than the bound on one event.
pub const LONG_ANSWER: usize = 3 * 1024 * 1024;
/// What precedes an answer.
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

/// A wire format and its adapter.
pub trait Bench: Sync {
    /// What a server sends in a scenario; `None` where there is no server.
    fn script(&self, scenario: Scenario) -> Option<Script>;
    /// An adapter with [`KEY`] for its key that talks to `base_url` and waits `patience` for a silent server, and the
    /// call to make.
    fn adapter(&self, base_url: String, patience: Duration) -> (Arc<dyn LlmAdapter>, CallConfig);
}
