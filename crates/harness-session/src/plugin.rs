//! The plugin that publishes the `sessions` service.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};

use crate::clock::{Clock, SystemClock};
use crate::store::Sessions;

/// Provides [`Sessions`].
pub struct SessionPlugin {
    clock: Arc<dyn Clock>,
}
impl Default for SessionPlugin {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock) }
    }
}
impl SessionPlugin {
    /// Sessions stamped by this clock.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}
impl Plugin for SessionPlugin {
    type Deps = ();
    fn name(&self) -> &'static str {
        "session"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<Sessions>(Arc::new(Sessions::with_clock(Arc::clone(&self.clock))))?;
        Ok(())
    }
}
