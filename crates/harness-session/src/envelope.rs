//! Reads a stored line in one pass: the type, which is written first, decides how the data is read.
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::body::Body;
use crate::codec::StoredAssistant;
use crate::event::{Seq, SurfaceOp};
use crate::packed::ChunkRun;

/// A line, taken apart.
pub(crate) struct Envelope<'a> {
    pub(crate) kind: Cow<'a, str>,
    pub(crate) seq: Seq,
    pub(crate) time: i64,
    pub(crate) required: bool,
    pub(crate) surface: Option<SurfaceOp>,
    pub(crate) sources: Option<Vec<Seq>>,
    pub(crate) data: Data<'a>,
}

/// The data of a line.
pub(crate) enum Data<'a> {
    /// What says all by itself.
    Whole(Body),
    /// What the messages after it may need.
    Chunks(ChunkRun),
    /// What may need the chunks before it.
    Assistant(StoredAssistant<'a>),
    /// A type that this build does not know.
    Unknown(&'a RawValue),
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")] // a key that copying would drop is refused, never lost
enum Key {
    Type,
    Seq,
    Time,
    Required,
    Surface,
    Sources,
    Data,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Line)
    }
}

struct Line;
impl<'de> Visitor<'de> for Line {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session event")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let (mut kind, mut seq, mut time, mut required) = (None::<Text<'de>>, None, None, None);
        let (mut surface, mut sources) = (None::<Option<SurfaceOp>>, None::<Option<Vec<Seq>>>);
        let (mut data, mut early) = (None, None::<&'de RawValue>);
        while let Some(key) = map.next_key()? {
            match key {
                Key::Type => once("type", &mut kind, map.next_value()?)?,
                Key::Seq => once("seq", &mut seq, map.next_value()?)?,
                Key::Time => once("time", &mut time, map.next_value()?)?,
                Key::Required => once("required", &mut required, map.next_value()?)?,
                Key::Surface => once("surface", &mut surface, map.next_value()?)?,
                Key::Sources => once("sources", &mut sources, map.next_value()?)?,
                Key::Data if early.is_some() => return Err(A::Error::duplicate_field("data")),
                Key::Data => match &kind {
                    Some(Text(kind)) => once("data", &mut data, map.next_value_seed(Of(kind))?)?,
                    None => early = Some(map.next_value()?),
                },
            }
        }
        let Text(kind) = kind.ok_or_else(|| A::Error::missing_field("type"))?;
        let data = match (data, early) {
            (Some(data), None) => data,
            (None, Some(raw)) => {
                let mut text = serde_json::Deserializer::from_str(raw.get());
                Of(&kind).deserialize(&mut text).map_err(A::Error::custom)?
            }
            (Some(_), Some(_)) => return Err(A::Error::duplicate_field("data")),
            (None, None) => return Err(A::Error::missing_field("data")),
        };
        Ok(Envelope {
            seq: seq.ok_or_else(|| A::Error::missing_field("seq"))?,
            time: time.ok_or_else(|| A::Error::missing_field("time"))?,
            required: required.unwrap_or_default(),
            surface: surface.flatten(),
            sources: sources.flatten(),
            kind,
            data,
        })
    }
}

fn once<T, E: serde::de::Error>(name: &'static str, slot: &mut Option<T>, value: T) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

/// Reads the data of a type.
struct Of<'k>(&'k str);
impl<'de> DeserializeSeed<'de> for Of<'_> {
    type Value = Data<'de>;

    fn deserialize<D: Deserializer<'de>>(self, data: D) -> Result<Data<'de>, D::Error> {
        Ok(Data::Whole(match self.0 {
            "turn/start" => Body::TurnStart(Deserialize::deserialize(data)?),
            "turn/end" => Body::TurnEnd(Deserialize::deserialize(data)?),
            "step/start" => Body::StepStart(Deserialize::deserialize(data)?),
            "step/end" => Body::StepEnd(Deserialize::deserialize(data)?),
            "user/message" => Body::UserMessage(Deserialize::deserialize(data)?),
            "tool/call" => Body::ToolCall(Deserialize::deserialize(data)?),
            "tool/result" => Body::ToolResult(Deserialize::deserialize(data)?),
            "request/header" => Body::RequestHeader(Arc::new(Deserialize::deserialize(data)?)),
            "request/context" => Body::RequestContext(Deserialize::deserialize(data)?),
            "agent/inbox/spliced" => Body::InboxSpliced(Deserialize::deserialize(data)?),
            "agent/parked" => Body::AgentParked(Deserialize::deserialize(data)?),
            "session/resumed" => Body::SessionResumed(Deserialize::deserialize(data)?),
            "assistant/chunks" => return ChunkRun::deserialize(data).map(Data::Chunks),
            "assistant/message" => return StoredAssistant::deserialize(data).map(Data::Assistant),
            _ => return <&RawValue>::deserialize(data).map(Data::Unknown),
        }))
    }
}
