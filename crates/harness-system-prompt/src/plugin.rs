//! The plugin that publishes the `system-prompt` service.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};

use crate::section::Section;
use crate::service::SystemPrompt;

/// Provides [`SystemPrompt`], with the sections that the app brings.
#[derive(Debug, Default)]
pub struct SystemPromptPlugin {
    /// Sections to start with.
    pub sections: Vec<Section>,
}
impl Plugin for SystemPromptPlugin {
    type Deps = ();
    fn name(&self) -> &'static str {
        "system-prompt"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        let service = Arc::new(SystemPrompt);
        for section in &self.sections {
            service.section(&ctx, section.clone())?;
        }
        ctx.provide::<SystemPrompt>(service)?;
        Ok(())
    }
}
