//! The plugin that registers the tool.
use std::sync::Arc;

use harness_bash::BashExecutor;
use harness_kernel::{Ctx, Plugin, PluginError};
use harness_tools::Tools;

use crate::tool::Bash;

/// Registers `bash`.
#[derive(Debug, Default)]
pub struct ToolBash;
impl Plugin for ToolBash {
    type Deps = (Arc<Tools>, Arc<dyn BashExecutor>);
    fn name(&self) -> &'static str {
        "tool-bash"
    }
    async fn apply(&self, ctx: Ctx, (tools, executor): Self::Deps) -> Result<(), PluginError> {
        tools.register(&ctx, Bash(executor))?;
        Ok(())
    }
}
