//! Messages: identified, sourced, immutable once made.
use serde::de::{Error as _, IgnoredAny, MapAccess};
use serde::{Deserialize, Serialize};

use crate::block::{Block, ToolResultBlock};
use crate::id::MessageId;
use crate::open::{Open, Tagged, Vocabulary, fields, open_enum};

/// Who speaks. Tool results travel as user messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// The person, a plugin, or a tool.
    User,
    /// The model.
    Assistant,
}

/// Names of the sources that have a variant of their own.
#[derive(Debug)]
pub enum SourceVocabulary {}
impl Vocabulary for SourceVocabulary {
    const TAG: &'static str = "kind";
    const KNOWN: &'static [&'static str] = &["user", "plugin", "model", "tool"];
}

/// Where a message came from. The set is open.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", remote = "Self")]
#[non_exhaustive]
pub enum MessageSource {
    /// A person typed it.
    User,
    /// A plugin contributed it.
    Plugin {
        /// The plugin's name.
        plugin: String,
        /// What kind of context it is; never rendered to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<ContextForm>,
    },
    /// A model produced it.
    Model {
        /// The provider route.
        provider: String,
        /// The model's name.
        model: String,
        /// Opaque data that only the adapter which made it may read back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replay_state: Option<serde_json::Value>,
    },
    /// It answers a tool call.
    Tool {
        /// The call; equal to the result block's `call_id`.
        call_id: String,
    },
    /// A kind that this build does not know.
    #[serde(skip)]
    Other(Open<SourceVocabulary>),
}
open_enum!(MessageSource);

#[derive(Deserialize)]
struct PluginFields {
    plugin: String,
    #[serde(default)]
    form: Option<ContextForm>,
}
#[derive(Deserialize)]
struct ModelFields {
    provider: String,
    model: String,
    #[serde(default)]
    replay_state: Option<serde_json::Value>,
}
#[derive(Deserialize)]
struct ToolFields {
    call_id: String,
}
impl Tagged for MessageSource {
    type Vocabulary = SourceVocabulary;
    fn known<'de, A: MapAccess<'de>>(name: &'static str, rest: A) -> Result<Self, A::Error> {
        Ok(match name {
            "user" => {
                fields::<IgnoredAny, A>(rest)?;
                Self::User
            }
            "plugin" => {
                let PluginFields { plugin, form } = fields(rest)?;
                Self::Plugin { plugin, form }
            }
            "model" => {
                let ModelFields { provider, model, replay_state } = fields(rest)?;
                Self::Model { provider, model, replay_state }
            }
            "tool" => Self::Tool { call_id: fields::<ToolFields, A>(rest)?.call_id },
            other => return Err(A::Error::unknown_variant(other, SourceVocabulary::KNOWN)),
        })
    }
    fn open(open: Open<SourceVocabulary>) -> Self {
        Self::Other(open)
    }
}

/// What kind of context a plugin's message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ContextForm {
    /// Standing instructions, such as AGENTS.md.
    Instructions,
    /// A list of what is available.
    Catalog,
    /// The state of the surroundings at one moment.
    Snapshot,
    /// Something happened.
    Notice,
    /// Text passed on from elsewhere.
    Relay,
    /// Something remembered.
    Recall,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Identity, kept through inbox, log and request.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// What is said; reaches the model verbatim.
    pub content: Vec<Block>,
    /// Where it came from.
    pub source: MessageSource,
}

impl Message {
    /// What a person typed.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Block::text(text)], MessageSource::User)
    }
    /// Context from a plugin.
    pub fn context(plugin: impl Into<String>, form: ContextForm, text: impl Into<String>) -> Self {
        let source = MessageSource::Plugin { plugin: plugin.into(), form: Some(form) };
        Self::new(Role::User, vec![Block::text(text)], source)
    }
    /// The answer to a tool call.
    pub fn tool_result(result: ToolResultBlock) -> Self {
        let source = MessageSource::Tool { call_id: result.call_id.clone() };
        Self::new(Role::User, vec![Block::ToolResult(result)], source)
    }
    /// What a model said.
    pub fn assistant(provider: impl Into<String>, model: impl Into<String>, content: Vec<Block>) -> Self {
        let source =
            MessageSource::Model { provider: provider.into(), model: model.into(), replay_state: None };
        Self::new(Role::Assistant, content, source)
    }
    /// A message with a fresh identity.
    pub fn new(role: Role, content: Vec<Block>, source: MessageSource) -> Self {
        Self { id: MessageId::generate(), role, content, source }
    }
    /// All text blocks joined without a separator.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(Block::as_text).collect()
    }
    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &crate::ToolCallBlock> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}
