//! The plugin that publishes the `tool-schema` service.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_tools::ArgumentValidator;

use crate::validator::SchemaValidator;

/// Provides [`SchemaValidator`]; tools that are called from then on are checked.
#[derive(Debug, Default)]
pub struct ToolSchema;

impl Plugin for ToolSchema {
    type Deps = ();
    fn name(&self) -> &'static str {
        "tool-schema"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        ctx.provide::<dyn ArgumentValidator>(Arc::new(SchemaValidator))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness_kernel::App;
    use serde_json::json;

    #[tokio::test]
    async fn the_service_is_there_as_long_as_the_plugin() {
        let app = App::default().with(ToolSchema).start().await.unwrap();
        let validator = app.ctx().service::<dyn ArgumentValidator>().unwrap();
        assert!(validator.compile(&json!({ "type": "object" })).unwrap().check(&json!([])).is_err());
        let ctx = app.ctx().clone();
        app.shutdown().await.unwrap();
        assert!(ctx.service::<dyn ArgumentValidator>().is_none());
    }
}
