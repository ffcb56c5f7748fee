//! The assembled prompt and the event around assembling it.
use std::sync::Arc;

use harness_kernel::{Around, Event};
use harness_llm::ToolSpec;

use crate::section::Section;

/// What the model is told before the conversation: prompt sections and tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembly {
    /// Sections in order.
    pub sections: Vec<Section>,
    /// Tools, sorted by name so that registration order cannot change the request.
    pub tools: Vec<ToolSpec>,
}
impl Assembly {
    /// The system prompt: non-empty sections joined by blank lines.
    pub fn text(&self) -> Option<Arc<str>> {
        let parts: Vec<&str> =
            self.sections.iter().map(|section| section.text.trim()).filter(|text| !text.is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join("\n\n").into())
    }
}

/// Why no prompt could be assembled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the system prompt could not be assembled: {0}")]
pub struct AssembleError(pub String);
impl AssembleError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        "system-prompt-not-assembled"
    }
}

/// `system-prompt/assemble`: around the assembly of one request's prompt. A listener may change the assembly that
/// it delegates or the one that comes back; the result is logged, so keep it stable from request to request.
#[derive(Debug, Clone)]
pub struct Assemble(pub Assembly);
impl Event for Assemble {
    const NAME: &'static str = "system-prompt/assemble";
}
impl Around for Assemble {
    type Output = Result<Assembly, AssembleError>;
}
