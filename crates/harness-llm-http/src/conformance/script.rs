//! What a server sends.
use bytes::Bytes;

/// One response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The status; `None` if not even a head is sent.
    pub status: Option<u16>,
    /// Headers besides those that frame the body.
    pub headers: Vec<(&'static str, String)>,
    /// The body in the pieces in which it is written, each flushed.
    pub pieces: Vec<Bytes>,
    /// What happens to the connection afterwards.
    pub close: Close,
}

/// How a server leaves a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// In order, the body being complete as far as HTTP is concerned.
    Clean,
    /// With a reset.
    Reset,
    /// Not at all.
    Never,
}

/// A good head and an event stream, each item the whole text of one event without the blank line at its end.
pub fn events(events: impl IntoIterator<Item = String>) -> Script {
    Script {
        status: Some(200),
        headers: vec![("content-type", "text/event-stream".into())],
        pieces: events.into_iter().map(|event| format!("{event}\n\n").into()).collect(),
        close: Close::Clean,
    }
}
