//! What a hook reads on stdin.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::HookEvent;

/// Fields that every payload has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Common {
    /// The session; empty when there is none.
    pub session_id: String,
    /// The transcript of the session as JSON lines; empty when there is none.
    pub transcript_path: String,
    /// The folder that the session works in.
    pub cwd: String,
    /// The prompt that this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// How permissions are handled: `default`, `plan`, `acceptEdits`, `bypassPermissions` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The subagent, inside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
}

/// Fields of one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "hook_event_name")]
#[non_exhaustive]
pub enum EventFields {
    /// A session starts.
    SessionStart {
        /// `startup`, `resume`, `clear`, `compact` or `fork`.
        source: String,
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// The person sends a prompt.
    UserPromptSubmit {
        /// Its text.
        prompt: String,
    },
    /// A tool call is about to be judged.
    PreToolUse {
        /// The call.
        #[serde(flatten)]
        call: ToolFields,
    },
    /// A tool call needs approval.
    PermissionRequest {
        /// The call.
        #[serde(flatten)]
        call: ToolFields,
    },
    /// A tool call succeeded.
    PostToolUse {
        /// The call.
        #[serde(flatten)]
        call: ToolFields,
        /// What came out: an object of the tool's own shape, or text in the native contract.
        tool_response: Value,
        /// How long it took, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// A tool call failed.
    PostToolUseFailure {
        /// The call.
        #[serde(flatten)]
        call: ToolFields,
        /// What went wrong.
        error: String,
        /// Whether the person stopped it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_interrupt: Option<bool>,
    },
    /// All calls of one answer are done.
    PostToolBatch {
        /// The calls, each with what the model is shown of its result.
        tool_calls: Vec<BatchedCall>,
    },
    /// The person is told something.
    Notification {
        /// The text.
        message: String,
        /// A heading.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// `permission_prompt`, `idle_prompt` …
        notification_type: String,
    },
    /// A subagent starts. Its id and type are among the common fields.
    SubagentStart {},
    /// A subagent wants to end. Its id and type are among the common fields.
    SubagentStop {
        /// Whether it goes on because of a hook already.
        stop_hook_active: bool,
        /// Its own transcript.
        agent_transcript_path: String,
        /// What it said last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_assistant_message: Option<String>,
    },
    /// The turn wants to end.
    Stop {
        /// Whether it goes on because of a hook already.
        stop_hook_active: bool,
        /// What the model said last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_assistant_message: Option<String>,
    },
    /// The turn ended with a failure.
    StopFailure {
        /// The kind of failure.
        error: String,
        /// What happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_details: Option<String>,
        /// What the model said last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_assistant_message: Option<String>,
    },
    /// The history is about to be compacted.
    PreCompact {
        /// `manual` or `auto`.
        trigger: String,
        /// What the person asked for; empty when nobody did.
        custom_instructions: String,
    },
    /// The history was compacted.
    PostCompact {
        /// `manual` or `auto`.
        trigger: String,
        /// The summary.
        compact_summary: String,
    },
    /// A session ends.
    SessionEnd {
        /// `clear`, `resume`, `logout`, `prompt_input_exit` or `other`.
        reason: String,
    },
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFields {
    /// The tool, by its name in the hook's own system.
    pub tool_name: String,
    /// Its input, in that system's keys.
    pub tool_input: Value,
    /// The call.
    pub tool_use_id: String,
}

/// A call of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BatchedCall {
    /// The call.
    #[serde(flatten)]
    pub call: ToolFields,
    /// What the model is shown.
    pub tool_response: String,
}

/// A whole payload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Payload {
    /// What every payload has.
    #[serde(flatten)]
    pub common: Common,
    /// What this event adds.
    #[serde(flatten)]
    pub event: EventFields,
}

impl EventFields {
    /// The event.
    pub fn event(&self) -> HookEvent {
        match self {
            Self::SessionStart { .. } => HookEvent::SessionStart,
            Self::UserPromptSubmit { .. } => HookEvent::UserPromptSubmit,
            Self::PreToolUse { .. } => HookEvent::PreToolUse,
            Self::PermissionRequest { .. } => HookEvent::PermissionRequest,
            Self::PostToolUse { .. } => HookEvent::PostToolUse,
            Self::PostToolUseFailure { .. } => HookEvent::PostToolUseFailure,
            Self::PostToolBatch { .. } => HookEvent::PostToolBatch,
            Self::Notification { .. } => HookEvent::Notification,
            Self::SubagentStart {} => HookEvent::SubagentStart,
            Self::SubagentStop { .. } => HookEvent::SubagentStop,
            Self::Stop { .. } => HookEvent::Stop,
            Self::StopFailure { .. } => HookEvent::StopFailure,
            Self::PreCompact { .. } => HookEvent::PreCompact,
            Self::PostCompact { .. } => HookEvent::PostCompact,
            Self::SessionEnd { .. } => HookEvent::SessionEnd,
        }
    }
}

impl Payload {
    /// The event.
    pub fn event(&self) -> HookEvent {
        self.event.event()
    }
    /// The JSON object.
    pub fn to_object(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(object)) => object,
            // Both halves are structs with text keys: nothing else can come out.
            _ => Map::new(),
        }
    }
}
