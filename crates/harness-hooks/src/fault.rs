//! Why a hook could not do its work.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ways in which a hook fails without having decided anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The program could not be started.
    Start,
    /// It took too long and was killed.
    Timeout,
    /// It ended with a code that says neither yes nor no.
    Exit,
    /// A signal ended it.
    Signal,
    /// What it printed begins like JSON and is none.
    Unparsable,
    /// What it printed is JSON, but not an answer.
    Schema,
    /// It printed more than is read.
    Flood,
    /// The request failed.
    Http,
    /// The URL is not on the list.
    Forbidden,
    /// Nobody is there who could run this kind.
    Unavailable,
    /// The caller gave up.
    Cancelled,
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// What happened, in one line.
    pub message: String,
}
impl Fault {
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
    /// A stable code.
    pub const fn code(&self) -> &'static str {
        match self.kind {
            FaultKind::Start => "HOOK_START",
            FaultKind::Timeout => "HOOK_TIMEOUT",
            FaultKind::Exit => "HOOK_EXIT",
            FaultKind::Signal => "HOOK_SIGNAL",
            FaultKind::Unparsable => "HOOK_UNPARSABLE",
            FaultKind::Schema => "HOOK_SCHEMA",
            FaultKind::Flood => "HOOK_FLOOD",
            FaultKind::Http => "HOOK_HTTP",
            FaultKind::Forbidden => "HOOK_FORBIDDEN",
            FaultKind::Unavailable => "HOOK_UNAVAILABLE",
            FaultKind::Cancelled => "HOOK_CANCELLED",
        }
    }
}
