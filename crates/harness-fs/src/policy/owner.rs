//! On whose behalf a file is touched.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An opaque key for the agent or session on whose behalf a file is touched. What one owner has read does not count
/// for another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Owner(Arc<str>);

impl Owner {
    /// Wraps a key, for instance a session id.
    pub fn new(key: impl Into<Arc<str>>) -> Self {
        Self(key.into())
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
