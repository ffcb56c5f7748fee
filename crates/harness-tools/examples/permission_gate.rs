//! A permission gate on `tools/pre-execute`: the reorderable layer, where listeners allow, deny or ask.
//!
//! This one turns a workspace read-only and keeps every tool away from `.env` files. A gate after it, or before it,
//! may decide otherwise: what must hold whatever others say belongs into a guard (see `invariant_guard.rs`).
use std::io::Write as _;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_tools::{PreExecute, PreToolDecision, ToolCall};

/// Denies tools by name, and paths by what they name.
pub(crate) struct PermissionGate {
    denied_tools: Vec<String>,
}
impl PermissionGate {
    /// A gate that denies these tools altogether.
    pub(crate) fn denying(tools: &[&str]) -> Self {
        Self { denied_tools: tools.iter().map(|&tool| tool.to_owned()).collect() }
    }
    /// Why the call may not go on, if so.
    fn objection(&self, call: &ToolCall) -> Option<String> {
        if self.denied_tools.iter().any(|denied| denied == call.name()) {
            return Some(format!("denied by policy: `{}` is not allowed in this workspace", call.name()));
        }
        let path = call.arguments().get("file_path")?.as_str()?;
        // The last component, so that neither `config/.env` nor `.env.local` slips through and `environment.rs` does.
        let name = path.rsplit('/').next().unwrap_or(path);
        let secret = name == ".env" || name.starts_with(".env.");
        secret.then(|| format!("denied by policy: `{path}` may hold secrets"))
    }
}
impl Plugin for PermissionGate {
    type Deps = ();
    fn name(&self) -> &'static str {
        "permission-gate"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        let gate = Self { denied_tools: self.denied_tools.clone() };
        ctx.around::<PreExecute, _>(move |event, next| {
            let objection = gate.objection(&event.0);
            async move {
                match objection {
                    Some(reason) => Ok(PreToolDecision::deny(reason)),
                    None => next.run(event).await,
                }
            }
        });
        Ok(())
    }
}

#[path = "tutorial/stage.rs"]
pub(crate) mod stage;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stage = stage::Stage::with(PermissionGate::denying(&["write", "edit"])).await?;
    let mut out = std::io::stdout();
    for (tool, arguments) in [
        ("read", r#"{"file_path":"src/main.rs"}"#),
        ("read", r#"{"file_path":"config/.env"}"#),
        ("write", r#"{"file_path":"src/main.rs"}"#),
    ] {
        writeln!(out, "{tool} {arguments}: {}", stage.call(tool, arguments).await)?;
    }
    writeln!(out, "what has really run: {}", stage.ran().join(", "))?;
    stage.end().await?;
    Ok(())
}
