//! What an event stream yields.

/// One dispatched event, with the meaning of the HTML standard's
/// [event stream interpretation](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
///
/// `retry` fields are ignored: whether and when to reconnect is the caller's decision, and a paid
/// completion is never requested again behind its back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The event type; `message` if the server named none.
    pub event: String,
    /// All `data` lines, joined by line feeds.
    pub data: String,
    /// The last event id in force; empty if the server never set one.
    pub id: String,
    /// The stream ended before the blank line that closes this event, so its data may be cut
    /// anywhere. A reader that needs whole data must treat this as a broken stream.
    pub truncated: bool,
}

/// One thing that arrived: an event, or a sign of life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SseItem {
    /// A dispatched event.
    Event(SseEvent),
    /// A comment line, without its colon. Servers send these to keep a connection open, so a
    /// timer over items must count them as activity. Comes before the event it stands in.
    Comment(String),
}

/// How the byte stream ended, when it ended without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// After a complete event (or before any byte).
    Clean,
    /// In the middle of an event or a line.
    Truncated,
}
