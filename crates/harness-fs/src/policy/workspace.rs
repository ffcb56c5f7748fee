//! The directories that a session works in.

use std::path::Path;
use std::sync::Arc;

use crate::{FileSystem, FsError, ResolvedPath};

/// The directories that a session works in, links resolved: paths can be compared with it, even when the workspace
/// itself was reached through a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace(Arc<[ResolvedPath]>);

impl Workspace {
    /// Resolves the absolute directories `roots`; the first is the one that relative paths start from.
    ///
    /// # Errors
    /// Those of [`FileSystem::resolve`].
    pub async fn resolve(fs: &dyn FileSystem, roots: &[&Path]) -> Result<Self, FsError> {
        let mut resolved = Vec::with_capacity(roots.len());
        for root in roots {
            let Some(path) = root.to_str() else {
                let reason = "a workspace root must be UTF-8";
                return Err(FsError::InvalidPath { path: root.display().to_string(), reason });
            };
            resolved.push(fs.resolve(root, path).await?);
        }
        Ok(Self(resolved.into()))
    }

    /// The roots.
    pub fn roots(&self) -> &[ResolvedPath] {
        &self.0
    }

    /// Whether the resolved path is one of the roots or below one.
    pub fn contains(&self, path: &Path) -> bool {
        self.0.iter().any(|root| path.starts_with(root.real()))
    }
}
