//! The stored form: one JSON object a line, the header first.
//!
//! Envelope: `type`, `seq`, `time` (milliseconds since the Unix epoch), `data`, and where they apply `required`,
//! `surface` and `sources`. An assistant message whose content is exactly what its chunks add up to is stored
//! without it ([`Form::Stored`]) and gets it back on reading, so that an answer is not stored twice.
use std::borrow::Cow;
use std::sync::Arc;

use harness_llm::{Assembler, Block, FinishReason, Message, MessageId, MessageSource, Role, Usage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::body::{AssistantMessage, Body, Step};
use crate::envelope::{Data, Envelope};
use crate::event::{Event, Seq, SurfaceOp};
use crate::header::{FORMAT_VERSION, SessionHeader};
use crate::packed::ChunkRun;
use crate::plugin_event::PluginData;

/// Which of the two forms to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For storage: an assistant message leaves out what its chunks already say.
    Stored,
    /// For programs that read single events: everything is spelt out.
    Full,
}

/// Why a line could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Not the JSON that the format asks for.
    #[error("not a session event: {0}")]
    Json(#[from] serde_json::Error),
    /// The header's version is newer than this build.
    #[error(
        "the session uses format version {found}, this build reads up to {FORMAT_VERSION}; update harness"
    )]
    NewerFormat {
        /// The version found.
        found: u32,
    },
    /// The first line is not a header.
    #[error("the first line is not a session header")]
    NotAHeader,
    /// An assistant message leaves out its content but its chunks are not there.
    #[error("the chunks of the assistant message at turn {}, step {} are missing", .0.turn, .0.step)]
    MissingChunks(Step),
}

/// What [`Envelope`] reads.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    seq: Seq,
    time: i64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    surface: Option<SurfaceOp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<&'a [Seq]>,
    data: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredMessage<'a> {
    id: MessageId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Cow<'a, [Block]>>,
    source: Cow<'a, MessageSource>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredAssistant<'a> {
    turn: u32,
    step: u32,
    attempt: u32,
    #[serde(borrow)]
    message: StoredMessage<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<Cow<'a, FinishReason>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredHeader<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    header: SessionHeader,
}

/// The header as a line, without the line feed.
pub fn encode_header(header: &SessionHeader) -> Result<String, serde_json::Error> {
    serde_json::to_string(&StoredHeader { kind: "session".into(), header: header.clone() })
}

/// Reads the header line.
pub fn decode_header(line: &str) -> Result<SessionHeader, DecodeError> {
    #[derive(Deserialize)]
    struct Probe {
        #[serde(rename = "type")]
        kind: String,
        header: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let probe: Probe = serde_json::from_str(line)?;
    if probe.kind != "session" {
        return Err(DecodeError::NotAHeader);
    }
    if probe.header.version > FORMAT_VERSION {
        return Err(DecodeError::NewerFormat { found: probe.header.version });
    }
    Ok(serde_json::from_str::<StoredHeader<'_>>(line)?.header)
}

/// An event as a line, without the line feed.
pub fn encode_event(event: &Event, form: Form) -> Result<String, serde_json::Error> {
    let data: Cow<'_, RawValue> = match &event.body {
        Body::TurnStart(data) => raw(data)?,
        Body::TurnEnd(data) => raw(data)?,
        Body::StepStart(data) | Body::StepEnd(data) => raw(data)?,
        Body::UserMessage(data) => raw(data)?,
        Body::AssistantChunks(data) => raw(data)?,
        Body::AssistantMessage(data) => raw(&stored(data, form))?,
        Body::ToolCall(data) => raw(data)?,
        Body::ToolResult(data) => raw(data)?,
        Body::RequestHeader(data) => raw(data)?,
        Body::RequestContext(data) => raw(data)?,
        Body::InboxSpliced(data) => raw(data)?,
        Body::AgentParked(data) => raw(data)?,
        Body::SessionResumed(data) => raw(data)?,
        Body::Plugin(data) => Cow::Borrowed(data.raw()),
    };
    serde_json::to_string(&Written {
        kind: event.body.type_name(),
        seq: event.seq,
        time: event.time,
        required: matches!(&event.body, Body::Plugin(data) if data.required()),
        surface: event.surface,
        sources: event.sources.as_deref(),
        data: &data,
    })
}

fn raw<T: Serialize>(data: &T) -> Result<Cow<'static, RawValue>, serde_json::Error> {
    serde_json::value::to_raw_value(data).map(Cow::Owned)
}

fn stored(data: &AssistantMessage, form: Form) -> StoredAssistant<'_> {
    let left_out = data.from_chunks && form == Form::Stored;
    StoredAssistant {
        turn: data.at.turn,
        step: data.at.step,
        attempt: data.attempt,
        message: StoredMessage {
            id: data.message.id,
            content: (!left_out).then(|| Cow::Borrowed(data.message.content.as_slice())),
            source: Cow::Borrowed(&data.message.source),
        },
        usage: data.usage,
        finish: data.finish.as_ref().map(Cow::Borrowed),
        interrupted: data.interrupted,
    }
}

impl AssistantMessage {
    /// Has the content written in the stored form too, for a log that may no longer hold all of its chunks.
    pub fn spell_out(&mut self) {
        self.from_chunks = false;
    }
}

/// Reads event lines in order. It remembers the chunks of the attempt at hand.
#[derive(Debug, Default)]
pub struct Decoder {
    attempt: Option<(Step, u32, Assembler)>,
}

impl Decoder {
    /// Reads the next line. Both forms are accepted, mixed as well.
    pub fn decode(&mut self, line: &str) -> Result<Event, DecodeError> {
        let Envelope { kind, seq, time, required, surface, sources, data } = serde_json::from_str(line)?;
        let body = match data {
            Data::Whole(body) => body,
            Data::Chunks(run) => Body::AssistantChunks(self.chunks(run)),
            Data::Assistant(stored) => Body::AssistantMessage(self.assistant(stored)?),
            Data::Unknown(raw) => Body::Plugin(PluginData::unknown(&kind, required, raw.to_owned())),
        };
        Ok(Event { seq, time, body, surface, sources })
    }

    fn chunks(&mut self, run: ChunkRun) -> ChunkRun {
        if !self.attempt.as_ref().is_some_and(|(at, attempt, _)| (*at, *attempt) == (run.at, run.attempt)) {
            self.attempt = Some((run.at, run.attempt, Assembler::default()));
        }
        if let Some((_, _, assembler)) = &mut self.attempt {
            run.assemble(assembler);
        }
        run
    }

    fn assistant(&mut self, data: StoredAssistant<'_>) -> Result<AssistantMessage, DecodeError> {
        let at = Step { turn: data.turn, step: data.step };
        let held = self.attempt.take().filter(|(step, attempt, _)| (*step, *attempt) == (at, data.attempt));
        let from_chunks = data.message.content.is_none();
        let content = match (data.message.content, held) {
            (Some(content), _) => content.into_owned(),
            (None, Some((_, _, assembler))) if data.interrupted => assembler.interrupted(),
            (None, Some((_, _, assembler))) => assembler.content(),
            (None, None) => return Err(DecodeError::MissingChunks(at)),
        };
        let source = data.message.source.into_owned();
        let message = Message { id: data.message.id, role: Role::Assistant, content, source };
        Ok(AssistantMessage {
            at,
            attempt: data.attempt,
            message: Arc::new(message),
            usage: data.usage,
            finish: data.finish.map(Cow::into_owned),
            interrupted: data.interrupted,
            from_chunks,
        })
    }
}
