//! Identifiers: UUID version 7 behind one newtype per kind of thing.
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A text that is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid identifier: expected a UUID")]
pub struct ParseIdError(pub String);

/// Identity of a message, minted once and preserved through inbox, log and request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(Uuid);

impl MessageId {
    /// Mints a new, time-ordered identity.
    pub fn generate() -> Self {
        Self(Uuid::now_v7())
    }
}
impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MessageId({})", self.0)
    }
}
impl FromStr for MessageId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        Uuid::parse_str(text).map(Self).map_err(|_| ParseIdError(text.to_owned()))
    }
}
