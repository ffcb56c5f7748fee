//! Sections: named, ordered pieces of the system prompt.
use std::sync::Arc;

/// Where a section stands; lower comes first, equal numbers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order(pub i32);
impl Order {
    /// Who the agent is.
    pub const IDENTITY: Self = Self(-100);
    /// How it works.
    pub const PERSONA: Self = Self(0);
    /// How to use its tools.
    pub const TOOLS: Self = Self(100);
    /// Standing instructions of the project.
    pub const PROJECT: Self = Self(200);
}

/// One piece of the system prompt. Its text is fixed when it is registered: whatever changes from turn to turn
/// travels as messages, so that the prefix of the request stays byte-identical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Unique name.
    pub name: String,
    /// Where it stands.
    pub order: Order,
    /// The text; a section with an empty text is left out.
    pub text: Arc<str>,
}
impl Section {
    /// A section.
    pub fn new(name: impl Into<String>, order: Order, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), order, text: text.into() }
    }
}
