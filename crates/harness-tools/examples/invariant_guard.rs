//! An invariant as a guard: it runs after every listener of `tools/pre-execute` and may deny or abstain. Nothing that
//! a guard can return allows a call, so no order of listeners turns its denial back.
use std::io::Write as _;
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_tools::Tools;

/// Switches one tool off for good.
pub(crate) struct InvariantGuard {
    /// The tool.
    pub(crate) tool: &'static str,
}
impl Plugin for InvariantGuard {
    type Deps = Arc<Tools>;
    fn name(&self) -> &'static str {
        "invariant-guard"
    }
    async fn apply(&self, ctx: Ctx, tools: Arc<Tools>) -> Result<(), PluginError> {
        let tool = self.tool;
        tools.guard(&ctx, "invariant-guard", move |call| {
            (call.name() == tool).then(|| format!("`{tool}` is disabled in this profile"))
        });
        Ok(())
    }
}

#[path = "tutorial/stage.rs"]
pub(crate) mod stage;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stage = stage::Stage::with(InvariantGuard { tool: "bash" }).await?;
    let mut out = std::io::stdout();
    for (tool, arguments) in [("bash", r#"{"command":"true"}"#), ("read", r#"{"file_path":"src/main.rs"}"#)] {
        writeln!(out, "{tool} {arguments}: {}", stage.call(tool, arguments).await)?;
    }
    writeln!(out, "what has really run: {}", stage.ran().join(", "))?;
    stage.end().await?;
    Ok(())
}
