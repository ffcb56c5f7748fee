//! How many pending messages one boundary takes.

/// How much of a list is taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueMode {
    /// Everything that is pending.
    All,
    /// The oldest message; the rest waits for the next boundary.
    OneAtATime,
}

/// The modes of the two lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueModes {
    /// Steering, at each step boundary. One at a time counts what a person said; context from plugins and tools
    /// belongs to the very next request and is always taken whole.
    pub steering: QueueMode,
    /// Follow-ups, at the start of a turn. With [`QueueMode::All`] one turn takes them together.
    pub followups: QueueMode,
}
impl Default for QueueModes {
    /// All steering, and one turn for each follow-up.
    fn default() -> Self {
        Self { steering: QueueMode::All, followups: QueueMode::OneAtATime }
    }
}
