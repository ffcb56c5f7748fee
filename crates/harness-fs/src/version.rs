//! The token that tells two states of one file apart.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An opaque token for one state of one file.
///
/// Two equal tokens mean: as far as the provider can tell, nothing happened to the file in between. A local provider
/// builds it from device, inode, size, modification and change time; a remote one may use a content hash. Consumers
/// only compare and store it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(Arc<str>);

impl Version {
    /// Wraps a token made by a provider.
    pub fn new(token: impl Into<Arc<str>>) -> Self {
        Self(token.into())
    }

    /// The token itself, for storage.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
