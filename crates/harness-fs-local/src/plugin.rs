//! The plugin.

use std::sync::Arc;

use harness_fs::FileSystem;
use harness_kernel::{Ctx, Plugin, PluginError};

use crate::LocalFileSystem;

/// Provides the files of this machine as the service `fs`.
#[derive(Debug, Clone, Copy, Default)]
pub struct FsLocal;

impl Plugin for FsLocal {
    type Deps = ();

    fn name(&self) -> &'static str {
        "fs-local"
    }

    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<dyn FileSystem>(Arc::new(LocalFileSystem::default()))?;
        Ok(())
    }
}
