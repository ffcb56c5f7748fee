//! The core event types and their data.
use std::sync::Arc;

use harness_llm::{CallConfig, Failure, FinishReason, Message, MessageId, ToolSpec, Usage};
use serde::{Deserialize, Serialize};

use crate::event::EventClass;
use crate::packed::ChunkRun;
use crate::plugin_event::PluginData;

/// Data of an event, by type.
#[derive(Debug, Clone)]
pub enum Body {
    /// `turn/start`: a turn opens.
    TurnStart(Turn),
    /// `turn/end`: the open turn closes.
    TurnEnd(TurnEnd),
    /// `step/start`: one model request and its tools begin.
    StepStart(Step),
    /// `step/end`: the open step closes.
    StepEnd(Step),
    /// `user/message`: input enters the history, told apart by its source.
    UserMessage(UserMessage),
    /// `assistant/chunks`: a run of raw stream chunks, packed.
    AssistantChunks(ChunkRun),
    /// `assistant/message`: what a model call added up to.
    AssistantMessage(AssistantMessage),
    /// `tool/call`: a tool starts, with the arguments that run.
    ToolCall(ToolCall),
    /// `tool/result`: a tool call is answered.
    ToolResult(ToolResult),
    /// `request/header`: the part of the request outside the messages, when it changes.
    RequestHeader(Arc<RequestHeader>),
    /// `request/context`: route or capacity, when it changes.
    RequestContext(RequestContext),
    /// `agent/inbox/spliced`: pending input changes.
    InboxSpliced(InboxSpliced),
    /// `agent/parked`: pending input waits for the person, and why.
    AgentParked(AgentParked),
    /// `session/resumed`: what stands before was written by an ended process.
    SessionResumed(SessionResumed),
    /// Any other type: a plugin's own, or one that this build does not know.
    Plugin(PluginData),
}

/// Names of the core types.
const CORE_TYPES: [&str; 14] = [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "assistant/chunks",
    "assistant/message",
    "tool/call",
    "tool/result",
    "request/header",
    "request/context",
    "agent/inbox/spliced",
    "agent/parked",
    "session/resumed",
];

impl Body {
    /// The type's name.
    pub fn type_name(&self) -> &str {
        match self {
            Self::TurnStart(_) => "turn/start",
            Self::TurnEnd(_) => "turn/end",
            Self::StepStart(_) => "step/start",
            Self::StepEnd(_) => "step/end",
            Self::UserMessage(_) => "user/message",
            Self::AssistantChunks(_) => "assistant/chunks",
            Self::AssistantMessage(_) => "assistant/message",
            Self::ToolCall(_) => "tool/call",
            Self::ToolResult(_) => "tool/result",
            Self::RequestHeader(_) => "request/header",
            Self::RequestContext(_) => "request/context",
            Self::InboxSpliced(_) => "agent/inbox/spliced",
            Self::AgentParked(_) => "agent/parked",
            Self::SessionResumed(_) => "session/resumed",
            Self::Plugin(data) => data.name(),
        }
    }
    /// Whether a name belongs to a core type.
    pub(crate) fn is_core(name: &str) -> bool {
        CORE_TYPES.contains(&name)
    }
    /// The type's class.
    pub fn class(&self) -> EventClass {
        match self {
            Self::UserMessage(_) | Self::AssistantMessage(_) | Self::ToolResult(_) => EventClass::Surface,
            Self::TurnStart(_)
            | Self::TurnEnd(_)
            | Self::StepStart(_)
            | Self::StepEnd(_)
            | Self::AssistantChunks(_)
            | Self::ToolCall(_)
            | Self::RequestHeader(_)
            | Self::RequestContext(_) => EventClass::Execution,
            Self::InboxSpliced(_) | Self::AgentParked(_) | Self::SessionResumed(_) => EventClass::Standalone,
            Self::Plugin(data) => data.class(),
        }
    }
}

/// A turn's number, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The turn.
    pub turn: u32,
}

/// A step's number within its turn, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
}

/// Data of `turn/end`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// The turn.
    pub turn: u32,
    /// Why it ended.
    pub reason: TurnEndReason,
}

/// Why a turn ended. Precedence when several apply: aborted, error, blocked, stopped, budget, max-tokens,
/// completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TurnEndReason {
    /// The model was done.
    Completed,
    /// Somebody cancelled it.
    Aborted {
        /// Who.
        cause: AbortCause,
    },
    /// A listener rejected its input.
    Blocked {
        /// The listener's reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A listener decided after a step that this is enough.
    Stopped {
        /// The listener's reason.
        reason: String,
    },
    /// It failed.
    Error {
        /// The facts.
        failure: Failure,
    },
    /// A step was cut at the output limit.
    MaxTokens,
    /// A budget ran out.
    Budget {
        /// Which budget, for example `steps`.
        budget: String,
        /// Its size.
        limit: u64,
    },
    /// The process ended in the middle; written on the next load.
    Interrupted,
}

/// Who cancelled a turn. The first cause wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AbortCause {
    /// The person.
    User,
    /// The agent that this one works for.
    Parent,
    /// The agent was disposed.
    Disposed,
    /// A hook or plugin.
    Hook {
        /// Its reason.
        reason: String,
    },
    /// The process was asked to end.
    Signal {
        /// The signal's name, such as `SIGINT`.
        signal: String,
    },
}

/// Data of `user/message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The message itself.
    pub message: Arc<Message>,
}

/// Data of `assistant/message`.
#[derive(Debug, Clone, PartialEq)]
pub struct AssistantMessage {
    /// Where it happened.
    pub at: Step,
    /// The attempt within the step, counted from 1.
    pub attempt: u32,
    /// The message; its content may be empty.
    pub message: Arc<Message>,
    /// What the call used, if reported.
    pub usage: Option<Usage>,
    /// How the stream ended; `None` when it was interrupted.
    pub finish: Option<FinishReason>,
    /// Whether it is only the visible prefix of a cancelled answer.
    pub interrupted: bool,
    /// Whether the content is exactly what the attempt's chunks add up to, so that it need not be stored twice.
    pub(crate) from_chunks: bool,
}

/// Data of `tool/call`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ToolCallFields")]
pub struct ToolCall {
    /// Where it happened.
    #[serde(flatten)]
    pub at: Step,
    /// Position among the calls of the step's message, counted from 0.
    pub position: u32,
    /// The call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The JSON text that runs.
    pub arguments: String,
    /// Who rewrote the arguments that the model sent, if anybody did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewritten_by: Vec<String>,
}

/// As stored. A flattened field would make serde buffer the whole object first.
#[derive(Deserialize)]
struct ToolCallFields {
    turn: u32,
    step: u32,
    position: u32,
    call_id: String,
    name: String,
    arguments: String,
    #[serde(default)]
    rewritten_by: Vec<String>,
}
impl From<ToolCallFields> for ToolCall {
    fn from(fields: ToolCallFields) -> Self {
        let ToolCallFields { turn, step, position, call_id, name, arguments, rewritten_by } = fields;
        Self { at: Step { turn, step }, position, call_id, name, arguments, rewritten_by }
    }
}

/// Data of `tool/result`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "ToolResultFields")]
pub struct ToolResult {
    /// Where it happened.
    #[serde(flatten)]
    pub at: Step,
    /// Position among the calls of the step's message, counted from 0.
    pub position: u32,
    /// The message with exactly one tool-result block.
    pub message: Arc<Message>,
    /// Identity of the failure, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
    /// Facts for displays; never shown to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<serde_json::Value>,
    /// What the tool, or whoever annotated its result, used of models by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// As stored.
#[derive(Deserialize)]
struct ToolResultFields {
    turn: u32,
    step: u32,
    position: u32,
    message: Arc<Message>,
    #[serde(default)]
    error: Option<ToolError>,
    #[serde(default)]
    meta: Option<serde_json::Value>,
    #[serde(default)]
    usage: Option<Usage>,
}
impl From<ToolResultFields> for ToolResult {
    fn from(fields: ToolResultFields) -> Self {
        let ToolResultFields { turn, step, position, message, error, meta, usage } = fields;
        Self { at: Step { turn, step }, position, message, error, meta, usage }
    }
}

/// Identity of a failed tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    /// Stable code such as `INVALID_ARGS`.
    pub code: String,
    /// For people.
    pub message: String,
}

/// Data of `request/header`: with the messages, the whole request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestHeader {
    /// Route, model and sampling, the adapter's defaults included.
    pub config: CallConfig,
    /// System prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Arc<str>>,
    /// Tools in the order sent.
    #[serde(default)]
    pub tools: Arc<[ToolSpec]>,
    /// Why it was logged.
    pub reason: HeaderReason,
}

/// Why a request header was logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeaderReason {
    /// The session's first request.
    Initial,
    /// It differs from the header before.
    Change,
}

/// Data of `request/context`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestContext {
    /// Provider route.
    pub provider: String,
    /// Model.
    pub model: String,
    /// Context window in tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

/// Which pending list an inbox change touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InboxTarget {
    /// Follow-ups: one message opens one turn.
    NextTurn,
    /// Steering and context: taken at the next step boundary.
    NextStep,
}

/// Data of `agent/inbox/spliced`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxSpliced {
    /// The list.
    pub target: InboxTarget,
    /// Messages taken out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<MessageId>,
    /// Messages put in at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inserted: Vec<Arc<Message>>,
    /// Whether the removed messages were dropped, not claimed by a turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub canceled: bool,
}

/// Data of `agent/parked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentParked {
    /// How many messages wait.
    pub pending: u32,
    /// Why nothing runs.
    pub reason: String,
}

/// Data of `session/resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionResumed {
    /// Version of the program that resumed it.
    pub program: String,
}
