//! The plugin that registers the three tools.
use std::sync::Arc;

use harness_fs::FileSystem;
use harness_kernel::{Ctx, Plugin, PluginError};
use harness_tools::Tools;

use crate::edit::Edit;
use crate::read::Read;
use crate::resume::refeed;
use crate::write::Write;

/// Registers `read`, `write` and `edit`.
#[derive(Debug, Default)]
pub struct ToolFs;
impl Plugin for ToolFs {
    type Deps = (Arc<Tools>, Arc<dyn FileSystem>);
    fn name(&self) -> &'static str {
        "tool-fs"
    }
    async fn apply(&self, ctx: Ctx, (tools, fs): Self::Deps) -> Result<(), PluginError> {
        tools.register(&ctx, Read(Arc::clone(&fs)))?;
        tools.register(&ctx, Write(Arc::clone(&fs)))?;
        tools.register(&ctx, Edit(fs))?;
        refeed(&ctx);
        Ok(())
    }
}
