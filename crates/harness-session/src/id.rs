//! Session identity.
use std::fmt;
use std::str::FromStr;

use harness_llm::ParseIdError;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Identity of a session and of the agent that drives it: a UUID version 7, sortable by creation time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Uuid);

impl SessionId {
    /// Mints a new identity.
    pub fn generate() -> Self {
        Self(Uuid::now_v7())
    }
}
impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({})", self.0)
    }
}
impl FromStr for SessionId {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        Uuid::parse_str(text).map(Self).map_err(|_| ParseIdError(text.to_owned()))
    }
}
