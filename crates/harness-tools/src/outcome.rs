//! Results on their way out and the final, frozen one.
use std::sync::Arc;

use harness_llm::{Block, Message, ToolResultBlock, Usage};
use serde_json::Value;

use crate::call::{CallToken, ToolCall};
use crate::erased::Produced;
use crate::failure::ToolFailure;

/// What execution came to, before `tools/post-execute` saw it.
#[derive(Debug, Clone)]
pub struct ToolReturn {
    /// Set by the registry alone: the dispatch that made it. Anything else is validated again.
    pub(crate) made_by: Option<CallToken>,
    pub(crate) result: Result<Produced, ToolFailure>,
}
impl ToolReturn {
    /// A wrapper's own success: validated against the tool's output type and rendered by the tool.
    pub fn value(value: Value) -> Self {
        Self {
            made_by: None,
            result: Ok(Produced { value, content: Vec::new(), meta: None, concludes_turn: false }),
        }
    }
    /// A wrapper's own failure.
    pub fn failure(failure: ToolFailure) -> Self {
        Self { made_by: None, result: Err(failure) }
    }
    /// The value or the failure.
    pub fn result(&self) -> Result<&Value, &ToolFailure> {
        self.result.as_ref().map(|produced| &produced.value)
    }
    /// What the model would be shown.
    pub fn content(&self) -> Vec<Block> {
        match &self.result {
            Ok(produced) => produced.content.clone(),
            Err(failure) => failure.rendered(),
        }
    }
}

/// The final result of a call. Frozen: observers get exactly this.
#[derive(Debug, Clone)]
pub struct ToolOutcome {
    /// The failure's identity, if it failed.
    pub failure: Option<ToolFailure>,
    /// What the model is shown.
    pub content: Vec<Block>,
    /// The canonical value of a success; for this process only, never stored.
    pub value: Option<Arc<Value>>,
    /// Facts for displays.
    pub meta: Option<Value>,
    /// What the call used of models by itself, for the log.
    pub usage: Option<Usage>,
    /// Messages that follow all results of the batch.
    pub contexts: Vec<Message>,
    /// Whether the turn ends with this step.
    pub concludes_turn: bool,
}
impl ToolOutcome {
    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        self.failure.is_some()
    }
    /// A failure that never went through the pipeline: a call that was cut off or cancelled before it began.
    pub fn synthetic(failure: ToolFailure) -> Self {
        Self {
            content: failure.rendered(),
            meta: failure.meta.as_deref().cloned(),
            failure: Some(failure),
            value: None,
            usage: None,
            contexts: Vec::new(),
            concludes_turn: false,
        }
    }
    /// The message that answers the call.
    pub fn message(&self, call: &ToolCall) -> Message {
        self.message_for(call.id())
    }
    /// The message that answers the call with this id.
    pub fn message_for(&self, call_id: &str) -> Message {
        Message::tool_result(ToolResultBlock {
            call_id: call_id.to_owned(),
            content: self.content.clone(),
            is_error: self.is_error(),
        })
    }
}
