//! An event as a row, and back.
use harness_session::{Event, Form, Seq, encode_event};
use harness_session_persistence::PersistenceError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What a row holds beside the session.
#[derive(Debug)]
pub(crate) struct EventRow {
    pub(crate) seq: i64,
    pub(crate) kind: String,
    pub(crate) time: i64,
    pub(crate) data: String,
    pub(crate) sources: Option<String>,
    pub(crate) surface: Option<String>,
    pub(crate) required: bool,
}

/// The line of the session format, in pieces.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: String,
    seq: i64,
    time: i64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    surface: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sources: Option<&'a RawValue>,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl EventRow {
    /// The events as rows, if they follow what is stored.
    pub(crate) fn all<'a>(
        next: Seq,
        events: impl IntoIterator<Item = &'a std::sync::Arc<Event>>,
    ) -> Result<Vec<Self>, PersistenceError> {
        let mut rows = Vec::new();
        for (expected, event) in (next..).zip(events) {
            if event.seq != expected {
                return Err(PersistenceError::Sequence { expected, got: event.seq });
            }
            rows.push(Self::of(event).map_err(|source| PersistenceError::Encode { seq: event.seq, source })?);
        }
        Ok(rows)
    }
    fn of(event: &Event) -> Result<Self, serde_json::Error> {
        let line = encode_event(event, Form::Stored)?;
        let Line { kind, seq, time, required, surface, sources, data } = serde_json::from_str(&line)?;
        let text = |raw: &RawValue| raw.get().to_owned();
        Ok(Self {
            seq,
            kind,
            time,
            data: text(data),
            sources: sources.map(text),
            surface: surface.map(text),
            required,
        })
    }
    /// How much text it holds.
    pub(crate) fn bytes(&self) -> i64 {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let all = self.kind.len() + self.data.len() + length(&self.sources) + length(&self.surface);
        i64::try_from(all).unwrap_or(i64::MAX)
    }
    /// The line that the session format makes of it.
    pub(crate) fn line(&self) -> Result<String, serde_json::Error> {
        let Self { seq, kind, time, data, sources, surface, required } = self;
        let raw = |text: &String| serde_json::from_str::<&RawValue>(text).map(ToOwned::to_owned);
        let (data, sources, surface) =
            (raw(data)?, sources.as_ref().map(raw).transpose()?, surface.as_ref().map(raw).transpose()?);
        serde_json::to_string(&Line {
            kind: kind.clone(),
            seq: *seq,
            time: *time,
            required: *required,
            surface: surface.as_deref(),
            sources: sources.as_deref(),
            data: &data,
        })
    }
}
