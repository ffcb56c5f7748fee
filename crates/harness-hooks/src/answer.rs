//! What a hook may say on stdout, and what was understood of it.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A decision about what is about to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may go on without being asked about.
    Allow,
    /// Somebody is to be asked.
    Ask,
    /// The call is kept and the process ends.
    Defer,
    /// It must not happen.
    Deny,
}

/// The wire form of a hook's stdout: every field is optional and unknown ones are ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookOutput {
    /// `false` halts the turn.
    #[serde(default, rename = "continue", skip_serializing_if = "Option::is_none")]
    pub go_on: Option<bool>,
    /// Why it halts, for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Accepted, without effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// A message for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// The older form of a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<LegacyDecision>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Context for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// What belongs to one event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<SpecificOutput>,
}

/// The older form of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LegacyDecision {
    /// Allow.
    Approve,
    /// Deny.
    Block,
}

/// `hookSpecificOutput`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpecificOutput {
    /// The event that this is for; a block for another event is discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_event_name: Option<String>,
    /// The decision; it stands above the older form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<Decision>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
    /// Context for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// The tool's whole new input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Map<String, Value>>,
    /// The tool's new output, in the shape of the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_tool_output: Option<Value>,
    /// The answer to a permission request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<PermissionAnswer>,
    /// Everything that belongs to one event only, such as `initialUserMessage`.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The answer of a `PermissionRequest` hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "behavior", rename_all = "lowercase")]
pub enum PermissionAnswer {
    /// Go on without asking.
    #[serde(rename_all = "camelCase")]
    Allow {
        /// The tool's whole new input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Map<String, Value>>,
        /// Rules to add.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_permissions: Option<Value>,
    },
    /// Refuse without asking.
    Deny {
        /// Told to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Whether the turn ends too.
        #[serde(default)]
        interrupt: bool,
    },
}

/// What an oracle answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OracleOutput {
    /// Whether it may go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// On `Stop`: what is asked for cannot be done, so the turn may end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<bool>,
}

/// What one hook's answer came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The decision, if it made one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether everything is to halt.
    #[serde(default)]
    pub stop: bool,
    /// Why it halts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Context for the model.
    #[serde(default)]
    pub contexts: Vec<String>,
    /// Messages for the person.
    #[serde(default)]
    pub messages: Vec<String>,
    /// The tool's whole new input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_input: Option<Map<String, Value>>,
    /// The tool's new output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_output: Option<Value>,
    /// The answer to a permission request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<PermissionAnswer>,
    /// What belongs to one event only.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub more: Map<String, Value>,
    /// What was accepted although it is not quite right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}
