//! The plugin that publishes the `session-persistence` service.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_session_persistence::SessionPersistence;

use crate::backend::SqlitePersistence;
use crate::config::SqliteConfig;

/// Keeps sessions in a database.
pub struct SqlitePlugin(pub SqliteConfig);

impl Plugin for SqlitePlugin {
    type Deps = ();
    fn name(&self) -> &'static str {
        "session-sqlite"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<dyn SessionPersistence>(Arc::new(SqlitePersistence::new(self.0.clone())))?;
        Ok(())
    }
}
