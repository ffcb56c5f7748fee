//! Who stays inside.

use std::path::Path;

use harness_fs::{Denial, FileAccess, FileSystem};

use crate::{FsPolicyConfig, Outside};

/// Refuses an access that leads out of the workspace and of every writable root, by the path that it resolves to.
/// `verb` is what the access wants: `read`, `written`, `edited`.
pub(crate) async fn confine(
    files: &dyn FileSystem,
    config: &FsPolicyConfig,
    outside: Outside,
    access: &FileAccess,
    verb: &str,
) -> Option<Denial> {
    let (path, workspace) = (access.path(), access.workspace());
    if outside == Outside::Allow || workspace.contains(path.real()) {
        return None;
    }
    let mut inside: Vec<String> =
        workspace.roots().iter().map(|root| root.real().display().to_string()).collect();
    for root in &config.writable_roots {
        // Resolved each time: a link in it may have been made or moved since the start.
        match resolve(files, root).await {
            Ok(real) if path.real().starts_with(&real) => return None,
            Ok(real) => inside.push(real.display().to_string()),
            Err(reason) => inside.push(format!("{} (cannot be resolved: {reason})", root.display())),
        }
    }
    let (display, real, inside) = (path.display(), path.real().display(), inside.join(", "));
    Some(Denial::outside_workspace(format!(
        "{display} may not be {verb}: it resolves to {real}, which is outside of {inside}; \
         use a path inside, or ask the user to add the folder to writable_roots of fs-policy"
    )))
}

async fn resolve(files: &dyn FileSystem, root: &Path) -> Result<std::path::PathBuf, String> {
    let text = root.to_str().ok_or("it is not UTF-8")?;
    let resolved = files.resolve(root, text).await.map_err(|error| error.to_string())?;
    Ok(resolved.real().to_owned())
}
