//! Which event types this program understands.
use std::collections::BTreeSet;

use harness_session::Sessions;

/// Names of the plugin event types that are registered. The core types are always known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownTypes(BTreeSet<String>);

impl KnownTypes {
    /// Whether a plugin type is known.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}
impl From<&Sessions> for KnownTypes {
    fn from(sessions: &Sessions) -> Self {
        sessions.event_types().iter().map(|info| info.name).collect()
    }
}
impl<N: Into<String>> FromIterator<N> for KnownTypes {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}
