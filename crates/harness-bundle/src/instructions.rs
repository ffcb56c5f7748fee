//! AGENTS.md of the project root enters the prompt.
use std::path::Path;
use std::sync::Arc;

use harness_fs::{FileSystem, FsError};
use harness_system_prompt::{Order, Section};

use crate::error::BundleError;

const FILE: &str = "AGENTS.md";
/// Most bytes of instructions that enter the prompt.
const LIMIT: u64 = 64 * 1024;

/// The prompt section with the project's instructions, if it has any.
pub(crate) async fn section(fs: &Arc<dyn FileSystem>, root: &Path) -> Result<Option<Section>, BundleError> {
    let failed = |error: FsError| BundleError::Instructions {
        path: root.join(FILE).display().to_string(),
        detail: error.to_string(),
    };
    let path = fs.resolve(root, FILE).await.map_err(failed)?;
    if !path.exists() {
        return Ok(None);
    }
    let file = fs.read_bytes(&path, LIMIT).await.map_err(failed)?;
    let text = String::from_utf8_lossy(&file.bytes);
    let cut = if file.truncated { "\n(The file is longer than 64 KiB; the rest is left out.)" } else { "" };
    // The name only, never the folder: the prompt must not change from place to place.
    let framed = format!("Instructions of this project, from {FILE}:\n\n{}{cut}", text.trim());
    Ok(Some(Section::new("project-instructions", Order::PROJECT, framed)))
}
