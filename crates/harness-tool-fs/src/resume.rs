//! What a session has seen survives a resume: the results in the log carry it.
use std::path::PathBuf;

use harness_agent::SessionStart;
use harness_fs::Observed;
use harness_kernel::Ctx;
use harness_session::Body;
use serde::{Deserialize, Serialize};

use crate::access::{SeenFile, owner};

#[derive(Serialize, Deserialize)]
struct Meta {
    fs: SeenFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// Facts kept beside a result.
pub(crate) fn meta(file: &SeenFile, diff: Option<&str>) -> Option<serde_json::Value> {
    serde_json::to_value(Meta { fs: file.clone(), diff: diff.map(str::to_owned) }).ok()
}

/// Tells the policy again, when a session starts, what its log says was seen. Files that changed meanwhile are
/// caught by their version.
pub(crate) fn refeed(ctx: &Ctx) {
    ctx.on_parallel::<SessionStart, _>(|start| async move {
        let owner = owner(Some(start.agent.id()));
        for event in start.agent.session().view().iter() {
            if let Body::ToolResult(result) = &event.body
                && let Some(meta) = result.meta.clone()
                && let Ok(Meta { fs, .. }) = serde_json::from_value::<Meta>(meta)
            {
                let observed = Observed { owner: owner.clone(), path: PathBuf::from(fs.path), seen: fs.seen };
                start.agent.ctx().emit(&observed);
            }
        }
        Ok(())
    });
}
