//! What may be added to a request's body: fields outside what the log says of the request.
use std::sync::Arc;

use harness_kernel::{Around, Event};
use serde_json::{Map, Value};

use crate::adapter::PreparedCall;
use crate::failure::LlmError;
use crate::options::OptionRefused;
use crate::request::Request;

/// Fields of all protocols that hold the conversation, the tools, or the configuration that is logged, and those that
/// decide the form of the answer.
const LOGGED_FIELDS: [&str; 31] = [
    "contents",
    "function_call",
    "functions",
    "generationconfig",
    "input",
    "instructions",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "options",
    "output_config",
    "previous_response_id",
    "conversation",
    "prompt",
    "reasoning",
    "reasoning_effort",
    "stop",
    "stop_sequences",
    "stream",
    "stream_options",
    "system",
    "system_instruction",
    "systeminstruction",
    "temperature",
    "thinking",
    "tool_choice",
    "toolconfig",
    "tools",
];

/// Fields that listeners add to the body. Conversation, tools, model and sampling cannot be among them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PayloadFields(Map<String, Value>);
impl PayloadFields {
    /// Adds a top-level field, in the place of one that another listener added.
    ///
    /// # Errors
    /// [`OptionRefused::LoggedField`] for a field that the log speaks for.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), OptionRefused> {
        if LOGGED_FIELDS.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(OptionRefused::LoggedField(name.to_owned()));
        }
        self.0.insert(name.to_owned(), value);
        Ok(())
    }
    /// The fields.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }
    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `llm/payload`: around the fields that are added to a request's body, at the place where it leaves. What the log
/// speaks for can be read and not changed: history in `agent/context`, prompt and tools in `system-prompt/assemble`,
/// model and sampling in `agent/request`. An adapter refuses a field that it writes itself.
#[derive(Clone)]
pub struct PayloadEvent {
    prepared: Arc<dyn PreparedCall>,
    request: Arc<Request>,
    /// The additions so far.
    pub fields: PayloadFields,
}
impl PayloadEvent {
    pub(crate) fn new(prepared: Arc<dyn PreparedCall>, request: Arc<Request>) -> Self {
        Self { prepared, request, fields: PayloadFields::default() }
    }
    /// The request.
    pub fn request(&self) -> &Arc<Request> {
        &self.request
    }
    /// The body outside prompt, messages and tools, without the additions.
    pub fn body(&self) -> Map<String, Value> {
        self.prepared.payload_fields(&self.request)
    }
}
impl Event for PayloadEvent {
    const NAME: &'static str = "llm/payload";
}
impl Around for PayloadEvent {
    type Output = Result<PayloadFields, LlmError>;
}
