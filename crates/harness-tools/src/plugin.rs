//! The plugin that publishes the `tools` service.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};

use crate::registry::Tools;

/// Provides [`Tools`].
#[derive(Debug, Default)]
pub struct ToolsPlugin;
impl Plugin for ToolsPlugin {
    type Deps = ();
    fn name(&self) -> &'static str {
        "tools"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<Tools>(Arc::new(Tools::default()))?;
        Ok(())
    }
}
