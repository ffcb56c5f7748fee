//! A deadline around execution, on `tools/execute`: one place for the time limit of every tool.
//!
//! A wrapper narrows the call's cancellation; it cannot take the caller's away. It waits for the body, which stops
//! when it is told to, and renames only what it has caused itself.
use std::io::Write as _;
use std::time::Duration;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_tools::{Execute, ToolFailure, ToolFailureCode, ToolReturn};

/// Tells a tool to stop after a time.
pub(crate) struct Deadline(pub(crate) Duration);
impl Plugin for Deadline {
    type Deps = ();
    fn name(&self) -> &'static str {
        "deadline"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        let limit = self.0;
        ctx.around::<Execute, _>(move |Execute(call), next| async move {
            let narrowed = call.narrow();
            let mut running = next.run(Execute(narrowed.call));
            let expired = tokio::select! {
                biased;
                returned = &mut running => return returned,
                () = tokio::time::sleep(limit) => {
                    narrowed.cancel.cancel();
                    // If the caller gave up as well, this is an abort and not a timeout.
                    !call.cancel_token().is_cancelled()
                }
            };
            let returned = running.await?;
            if expired {
                let text = format!("`{}` ran into its time limit of {limit:?} and was stopped", call.name());
                return Ok(ToolReturn::failure(ToolFailure::new(ToolFailureCode::TOOL_TIMEOUT, text)));
            }
            Ok(returned)
        });
        Ok(())
    }
}

#[path = "tutorial/stage.rs"]
pub(crate) mod stage;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stage = stage::Stage::with(Deadline(Duration::from_millis(50))).await?;
    let mut out = std::io::stdout();
    for command in ["true", "sleep forever"] {
        let arguments = format!(r#"{{"command":"{command}"}}"#);
        writeln!(out, "bash {arguments}: {}", stage.call("bash", &arguments).await)?;
    }
    writeln!(out, "what has really run: {}", stage.ran().join(", "))?;
    stage.end().await?;
    Ok(())
}
