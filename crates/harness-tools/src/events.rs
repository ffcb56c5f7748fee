//! The events of the pipeline, in the order in which they come.
use std::sync::Arc;

use harness_kernel::{Around, Event, Notice};
use harness_session::SessionId;
use serde_json::Value;

use crate::call::{CallRequest, CallToken, ToolCall};
use crate::decision::{ListenerError, PostToolDecision, PreToolDecision};
use crate::outcome::{ToolOutcome, ToolReturn};

/// `tools/prepare`: the only place where arguments may be rewritten, before the call has an identity. The log keeps
/// both what the model sent and what runs. Its listeners are dropped when the call is cancelled.
#[derive(Debug, Clone)]
pub struct Prepare {
    pub(crate) token: CallToken,
    pub(crate) request: Arc<CallRequest>,
    pub(crate) arguments: Value,
    pub(crate) rewritten_by: Vec<String>,
}
impl Prepare {
    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.request.name
    }
    /// The call's id.
    pub fn call_id(&self) -> &str {
        &self.request.id
    }
    /// The session on whose behalf.
    pub fn session(&self) -> Option<SessionId> {
        self.request.session
    }
    /// The arguments so far.
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }
    /// Replaces the arguments and signs for it. They are validated again.
    #[must_use]
    pub fn rewrite(mut self, by: impl Into<String>, arguments: Value) -> Self {
        self.arguments = arguments;
        self.rewritten_by.push(by.into());
        self
    }
}
impl Event for Prepare {
    const NAME: &'static str = "tools/prepare";
}
impl Around for Prepare {
    type Output = Result<Prepared, ListenerError>;
}

/// What `tools/prepare` comes to. Only the registry makes one, from what reached its core, and it takes back only
/// one that was made for the same call.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(crate) token: CallToken,
    pub(crate) arguments: Value,
    pub(crate) rewritten_by: Vec<String>,
}

/// `tools/pre-execute`: the reorderable policy gate: hooks, permissions, sandbox. Allow, deny or ask.
/// Its listeners are dropped when the call is cancelled.
#[derive(Debug, Clone)]
pub struct PreExecute(pub ToolCall);
impl Event for PreExecute {
    const NAME: &'static str = "tools/pre-execute";
}
impl Around for PreExecute {
    type Output = Result<PreToolDecision, ListenerError>;
}

/// `tools/execute`: around the body: deadlines, retries, metrics. A wrapper may narrow the cancellation, run the
/// rest again, or answer itself. Bodies of one call never overlap: when a wrapper drops the rest, the body is told
/// to stop and is awaited before another one starts and before the call has a result.
#[derive(Debug, Clone)]
pub struct Execute(pub ToolCall);
impl Event for Execute {
    const NAME: &'static str = "tools/execute";
}
impl Around for Execute {
    type Output = Result<ToolReturn, ListenerError>;
}

/// `tools/post-execute`: inspects and transforms what came out, denials included. It does not see calls whose arguments
/// do not fit, that were cancelled before policy, or that a failing listener ended.
#[derive(Debug, Clone)]
pub struct PostExecute {
    /// The call.
    pub call: ToolCall,
    /// What came out.
    pub returned: Arc<ToolReturn>,
}
impl Event for PostExecute {
    const NAME: &'static str = "tools/post-execute";
}
impl Around for PostExecute {
    type Output = Result<PostToolDecision, ListenerError>;
}

/// `tools/result`: the final result, for observers only. Exactly one for each call, whatever happened to it.
#[derive(Debug, Clone)]
pub struct ToolResultNotice {
    /// The call.
    pub call: ToolCall,
    /// The frozen result.
    pub outcome: Arc<ToolOutcome>,
}
impl Event for ToolResultNotice {
    const NAME: &'static str = "tools/result";
}
impl Notice for ToolResultNotice {}
