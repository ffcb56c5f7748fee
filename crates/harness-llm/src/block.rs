//! Content blocks: what a message is made of.
use serde::de::{Error as _, MapAccess};
use serde::{Deserialize, Serialize};

use crate::open::{Open, Tagged, Vocabulary, fields, open_enum};

/// Names of the block types that have a variant of their own.
#[derive(Debug)]
pub enum BlockVocabulary {}
impl Vocabulary for BlockVocabulary {
    const TAG: &'static str = "type";
    const KNOWN: &'static [&'static str] = &["text", "reasoning", "image", "tool-call", "tool-result"];
}

/// One piece of message content. The set is open: unknown types survive round trips.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", remote = "Self")]
#[non_exhaustive]
pub enum Block {
    /// Plain text.
    Text {
        /// The text itself.
        text: String,
    },
    /// The model's reasoning. Kept in history; an adapter decides whether it is replayed.
    Reasoning {
        /// The reasoning text.
        text: String,
        /// Opaque provider data that must travel with this block when it is replayed (a signature).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replay: Option<serde_json::Value>,
    },
    /// A picture, by reference: never inline bytes.
    Image(Attachment),
    /// A tool call that the model asks for.
    ToolCall(ToolCallBlock),
    /// The answer to one tool call.
    ToolResult(ToolResultBlock),
    /// A type that this build does not know.
    #[serde(skip)]
    Other(Open<BlockVocabulary>),
}

open_enum!(Block);

#[derive(Deserialize)]
struct TextFields {
    text: String,
}
#[derive(Deserialize)]
struct ReasoningFields {
    text: String,
    #[serde(default)]
    replay: Option<serde_json::Value>,
}
impl Tagged for Block {
    type Vocabulary = BlockVocabulary;
    fn known<'de, A: MapAccess<'de>>(name: &'static str, rest: A) -> Result<Self, A::Error> {
        Ok(match name {
            "text" => Self::Text { text: fields::<TextFields, A>(rest)?.text },
            "reasoning" => {
                let ReasoningFields { text, replay } = fields(rest)?;
                Self::Reasoning { text, replay }
            }
            "image" => Self::Image(fields(rest)?),
            "tool-call" => Self::ToolCall(fields(rest)?),
            "tool-result" => Self::ToolResult(fields(rest)?),
            other => return Err(A::Error::unknown_variant(other, BlockVocabulary::KNOWN)),
        })
    }
    fn open(open: Open<BlockVocabulary>) -> Self {
        Self::Other(open)
    }
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
    /// What kind of block this is.
    pub fn kind(&self) -> BlockKind {
        match self {
            Self::Text { .. } => BlockKind::Text,
            Self::Reasoning { .. } => BlockKind::Reasoning,
            Self::ToolCall(call) => BlockKind::ToolCall { id: call.id.clone(), name: call.name.clone() },
            Self::Image(_) => BlockKind::Other { name: "image".into() },
            Self::ToolResult(_) => BlockKind::Other { name: "tool-result".into() },
            Self::Other(open) => BlockKind::Other { name: open.name().to_owned() },
        }
    }
}

/// A durable reference to content kept outside the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Identity of the content, for example `sha256:…`.
    pub content_id: String,
    /// Media type such as `image/png`.
    pub media_type: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// A tool call as the model produced it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallBlock {
    /// Unique within the session: adapters replace empty and repeated wire ids.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The JSON text exactly as produced, never a parsed value.
    pub arguments: String,
}

/// The answer to one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResultBlock {
    /// The call that this answers.
    pub call_id: String,
    /// What the model is shown.
    pub content: Vec<Block>,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// What a stream announces when it opens a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum BlockKind {
    /// Text deltas follow.
    Text,
    /// Reasoning deltas follow.
    Reasoning,
    /// Argument deltas of one tool call follow.
    ToolCall {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// No deltas follow: the block arrives whole with its end.
    Other {
        /// The block's type.
        name: String,
    },
}
