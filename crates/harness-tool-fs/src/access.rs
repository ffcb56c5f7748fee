//! One tool call's way to a file: resolve, ask the policy, report what was seen.
use std::path::Path;
use std::sync::Arc;

use harness_fs::{FileAccess, FileSystem, FsError, Owner, Seen, Version, Workspace};
use harness_kernel::Ctx;
use harness_session::SessionId;
use harness_tools::{ToolFailure, ToolFailureCode, ToolRun};
use serde::{Deserialize, Serialize};

/// What a call saw, kept with its result so that a resumed session still knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeenFile {
    /// The resolved path.
    pub(crate) path: String,
    /// Its state.
    pub(crate) seen: Seen,
}

pub(crate) fn owner(session: Option<SessionId>) -> Owner {
    // Calls without a session share one owner: they have no log that could tell them apart.
    Owner::new(session.map_or_else(|| "no session".to_owned(), |id| id.to_string()))
}

pub(crate) async fn open(
    fs: &Arc<dyn FileSystem>,
    run: &ToolRun,
    path: &str,
) -> Result<FileAccess, ToolFailure> {
    let cwd: &Path = run.cwd();
    let resolved = async {
        let workspace = Workspace::resolve(fs.as_ref(), &[cwd]).await?;
        Ok(FileAccess::new(owner(run.call().session()), workspace, fs.resolve(cwd, path).await?))
    };
    resolved.await.map_err(failure)
}

/// Reports a state on `fs/observed` and keeps it for the log.
pub(crate) fn saw(ctx: &Ctx, access: &FileAccess, version: Version) -> SeenFile {
    let seen = Seen::Present(version);
    access.observed(ctx, seen.clone());
    SeenFile { path: access.path().real().display().to_string(), seen }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function for map_err")]
pub(crate) fn failure(error: FsError) -> ToolFailure {
    ToolFailure::new(ToolFailureCode::other(error.code()), error.to_string())
}
