//! The workspace as cargo and the file system describe it.
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cargo;

/// The whole repository.
pub(crate) struct Workspace {
    /// Where the root manifest is.
    pub(crate) root: PathBuf,
    /// Packages, by name.
    pub(crate) members: Vec<Member>,
    /// Every file but build products and version control, relative to the root, sorted.
    pub(crate) files: Vec<String>,
}

/// One package of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Package name.
    pub(crate) name: String,
    /// Folder, relative to the root.
    pub(crate) folder: String,
    /// What the manifest says that it is.
    pub(crate) description: String,
    /// What it declares to depend on.
    pub(crate) dependencies: Vec<Dependency>,
}
impl Member {
    /// The manifest, relative to the root.
    pub(crate) fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }
}

/// One declared dependency.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dependency {
    /// Package name, whatever it is renamed to.
    pub(crate) name: String,
    /// `None` for a normal one, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}
impl Dependency {
    /// Whether it is only for tests, examples and benchmarks.
    pub(crate) fn is_dev(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}
#[derive(Deserialize)]
struct Package {
    name: String,
    description: Option<String>,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

impl Workspace {
    /// Reads the workspace that this program was built from.
    pub(crate) fn load() -> Result<Self> {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is not inside a workspace")?;
        let root = root.canonicalize().with_context(|| format!("{} cannot be reached", root.display()))?;
        let printed =
            cargo::output(cargo::cargo(&root).args(["metadata", "--no-deps", "--format-version", "1"]))?;
        let metadata: Metadata =
            serde_json::from_str(&printed).context("cargo metadata is not as expected")?;
        let mut members = metadata
            .packages
            .into_iter()
            .map(|package| member(&root, package))
            .collect::<Result<Vec<_>>>()?;
        members.sort_by(|a, b| a.name.cmp(&b.name));
        let mut files = Vec::new();
        walk(&root, Path::new(""), &mut files)?;
        files.sort();
        Ok(Self { root, members, files })
    }
    /// A file's text.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.root.join(path)).with_context(|| format!("{path} cannot be read"))
    }
}

fn member(root: &Path, package: Package) -> Result<Member> {
    let folder = package.manifest_path.parent().context("a manifest without a folder")?;
    let folder = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned();
    Ok(Member {
        name: package.name,
        folder,
        description: package.description.unwrap_or_default(),
        dependencies: package.dependencies,
    })
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<String>) -> Result<()> {
    let shown = || format!("{} cannot be listed", root.join(folder).display());
    for entry in fs::read_dir(root.join(folder)).with_context(shown)? {
        let entry = entry.with_context(shown)?;
        let name = entry.file_name();
        let path = folder.join(&name);
        let kind = entry.file_type().with_context(shown)?;
        if kind.is_dir() {
            let name = name.to_string_lossy();
            let built =
                name == ".git" || name == "target" || name.starts_with("target-") || name == "node_modules";
            if !built {
                walk(root, &path, files)?;
            }
        } else if kind.is_file() {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    Ok(())
}
