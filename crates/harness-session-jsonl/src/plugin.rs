//! The plugin that publishes the `session-persistence` service.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_session_persistence::SessionPersistence;

use crate::backend::JsonlPersistence;
use crate::config::JsonlConfig;

/// Keeps sessions as JSON lines.
pub struct JsonlPlugin(pub JsonlConfig);

impl Plugin for JsonlPlugin {
    type Deps = ();
    fn name(&self) -> &'static str {
        "session-jsonl"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<dyn SessionPersistence>(Arc::new(JsonlPersistence::new(self.0.clone())))?;
        Ok(())
    }
}
