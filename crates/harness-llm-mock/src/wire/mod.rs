//! The wire formats in which a reply can be told.

mod chat;
mod messages;
mod responses;

use serde_json::Value;

pub(crate) use self::chat::{error, model_list};
use crate::reply::End;
use crate::token_usage::TokenUsage;

/// A fixed creation time, so that the same script gives the same bytes.
const CREATED: u64 = 1_767_225_600;
/// Where the token counts go in an event that is made before they are known.
const USAGE_MARK: &str = "@usage@";

/// A format, told by the path that a request goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireFormat {
    /// OpenAI's chat completions: `/v1/chat/completions`.
    ChatCompletions,
    /// Anthropic's messages: `/v1/messages`.
    Messages,
    /// OpenAI's responses: `/v1/responses`.
    Responses,
}

impl WireFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ChatCompletions, Self::Messages, Self::Responses];

    /// The path of its requests; also served without `/v1`.
    pub fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/v1/chat/completions",
            Self::Messages => "/v1/messages",
            Self::Responses => "/v1/responses",
        }
    }

    /// The format that is spoken at `path`.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.path() == path || format.path().strip_prefix("/v1") == Some(path))
    }

    pub(crate) fn writer(self, reply: usize, model: &str) -> Box<dyn Writer> {
        let model = model.to_owned();
        match self {
            Self::ChatCompletions => Box::new(chat::ChatWriter::new(reply, model)),
            Self::Messages => Box::new(messages::MessagesWriter::new(reply, model)),
            Self::Responses => Box::new(responses::ResponsesWriter::new(reply, model)),
        }
    }

    /// The `usage` object of the format.
    pub(crate) fn usage(self, usage: TokenUsage) -> Value {
        match self {
            Self::ChatCompletions => chat::usage(usage),
            Self::Messages => messages::usage(usage),
            Self::Responses => responses::usage(usage),
        }
    }
}

/// One tool call, its arguments in pieces. A single piece comes with id and name where the format allows it.
pub(crate) struct Call<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) pieces: &'a [&'a str],
}

/// The end of a reply, in the words of chat completions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closing<'a> {
    /// The scripted finish reason.
    pub(crate) finish: Option<&'a str>,
    pub(crate) has_calls: bool,
    pub(crate) has_usage: bool,
    pub(crate) end: End,
}

/// Writes the events of one reply.
pub(crate) trait Writer {
    fn text(&mut self, out: &mut Vec<u8>, piece: &str);
    fn reasoning(&mut self, out: &mut Vec<u8>, piece: &str);
    fn call(&mut self, out: &mut Vec<u8>, call: &Call<'_>);
    /// What follows the steps. If there is a second part, the token counts go between the two.
    fn close(&mut self, closing: Closing<'_>) -> (Vec<u8>, Option<Vec<u8>>);
}

/// Cuts events at the mark for the token counts.
fn around_usage(events: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
    let mark = format!("\"{USAGE_MARK}\"");
    let at = events.windows(mark.len()).position(|part| part == mark.as_bytes());
    match at {
        Some(at) => (events[..at].to_vec(), Some(events[at + mark.len()..].to_vec())),
        None => (events.to_vec(), None),
    }
}

/// An event whose name is the type of its data.
fn named_event(out: &mut Vec<u8>, data: &Value) {
    let name = data["type"].as_str().unwrap_or_default();
    out.extend_from_slice(format!("event: {name}\ndata: {data}\n\n").as_bytes());
}
