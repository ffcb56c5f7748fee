//! The `system-prompt` service: registered sections, visible by scope.
use std::sync::{Arc, Mutex, PoisonError};

use harness_kernel::{Ctx, Service, contain};
use harness_llm::ToolSpec;

use crate::assembly::{Assemble, AssembleError, Assembly};
use crate::section::Section;

/// Two sections of one scope share a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("prompt section `{0}` is already registered in this scope")]
pub struct SectionError(pub String);
impl SectionError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        "prompt-section-already-registered"
    }
}

/// Sections of one scope.
#[derive(Debug, Default)]
struct Layer(Mutex<Vec<Section>>);

/// The service.
#[derive(Debug, Default)]
pub struct SystemPrompt;
impl Service for SystemPrompt {
    const NAME: &'static str = "system-prompt";
}

impl SystemPrompt {
    /// Adds a section for as long as `ctx` lives, visible in its scope and below. A scope's section takes the
    /// place of an outer one of the same name.
    pub fn section(&self, ctx: &Ctx, section: Section) -> Result<(), SectionError> {
        let layer = ctx.state::<Layer>();
        let mut sections = layer.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sections.iter().any(|other| other.name == section.name) {
            return Err(SectionError(section.name));
        }
        let name = section.name.clone();
        sections.push(section);
        drop(sections);
        ctx.on_dispose(move || async move {
            layer.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other.name != name);
        });
        Ok(())
    }

    /// Assembles the prompt for one request of this scope, around `system-prompt/assemble`.
    pub async fn assemble(
        &self,
        ctx: &Ctx,
        mut tools: Vec<ToolSpec>,
    ) -> Result<Arc<Assembly>, AssembleError> {
        let mut sections: Vec<Section> = Vec::new();
        for layer in ctx.state_chain::<Layer>() {
            for section in layer.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                if !sections.iter().any(|inner| inner.name == section.name) {
                    sections.push(section.clone());
                }
            }
        }
        sections.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        let assembling = ctx
            .waterfall(Assemble(Assembly { sections, tools }), |Assemble(assembly)| async { Ok(assembly) });
        match contain(assembling).await {
            Ok(assembly) => assembly.map(Arc::new),
            Err(panic) => Err(AssembleError(format!("a listener panicked: {panic}"))),
        }
    }
}
