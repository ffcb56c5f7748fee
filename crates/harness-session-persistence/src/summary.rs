//! Sessions at a glance.
use std::sync::Arc;

use harness_llm::{Message, MessageSource};
use harness_session::{Body, Event, Seq, SessionHeader, SessionId};

use crate::error::PersistenceError;

/// What a list shows of one session. What is not cheap to know may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The header.
    pub header: SessionHeader,
    /// Last change, milliseconds since the Unix epoch.
    pub modified: i64,
    /// Stored size in bytes.
    pub bytes: Option<u64>,
    /// How many events are stored.
    pub events: Option<Seq>,
    /// How many turns have started.
    pub turns: Option<u32>,
    /// The beginning of what the person first asked, on one line.
    pub title: Option<String>,
}

/// Something that looks like a session and cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Where it is.
    pub location: String,
    /// The session that it is or should be, where its place says so.
    pub id: Option<SessionId>,
    /// Why.
    pub error: PersistenceError,
}

/// All sessions of a backend.
#[derive(Debug, Default)]
pub struct Listing {
    /// Newest change first.
    pub sessions: Vec<SessionSummary>,
    /// Those that cannot be read: never left out in silence.
    pub unreadable: Vec<Unreadable>,
}

/// Most characters of a title.
const TITLE: usize = 200;

/// The beginning of the first thing that a person said, on one line; `None` if these events hold none.
pub fn title<'a>(events: impl IntoIterator<Item = &'a Arc<Event>>) -> Option<String> {
    let said = |message: &Message| {
        let person = matches!(message.source, MessageSource::User);
        let words = person.then(|| message.text().split_whitespace().collect::<Vec<_>>().join(" "))?;
        (!words.is_empty()).then(|| words.chars().take(TITLE).collect())
    };
    events.into_iter().find_map(|event| match &event.body {
        Body::UserMessage(user) => said(&user.message),
        Body::InboxSpliced(spliced) => spliced.inserted.iter().find_map(|message| said(message)),
        _ => None,
    })
}
