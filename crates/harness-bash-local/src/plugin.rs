//! The plugin.

use std::sync::Arc;

use harness_bash::BashExecutor;
use harness_kernel::{Ctx, Plugin, PluginError};

use crate::config::BashLocalConfig;
use crate::executor::LocalBash;

/// Provides the service `bash` with [`LocalBash`]. When the plugin goes, its commands are ended first.
#[derive(Debug, Clone)]
pub struct BashLocal {
    /// What the program hands over.
    pub config: BashLocalConfig,
}

impl Plugin for BashLocal {
    type Deps = ();

    fn name(&self) -> &'static str {
        "bash-local"
    }

    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        let executor = Arc::new(LocalBash::new(&self.config)?);
        let to_stop = Arc::clone(&executor);
        ctx.on_dispose(move || async move { to_stop.stop().await });
        ctx.provide::<dyn BashExecutor>(executor)?;
        Ok(())
    }
}
