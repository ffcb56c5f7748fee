//! `cargo xtask bench`: builds the release binaries and lets the driver measure them.
use anyhow::{Context, Result};

use crate::cargo::{cargo, run as run_command};
use crate::workspace::Workspace;

/// Builds `harness`, then floor and driver apart from it, so that each program is what its users get.
pub(crate) fn run(workspace: &Workspace, options: &[&str]) -> Result<()> {
    run_command(cargo(&workspace.root).args(["build", "--release", "--package", "harness"]))?;
    run_command(cargo(&workspace.root).args(["build", "--release", "--package", "xtask-bench", "--bins"]))?;
    let example = ["build", "--release", "--package", "harness-hooks-claude", "--example", "overhead"];
    run_command(cargo(&workspace.root).args(example))?;
    let folder = target_folder(workspace)?.join("release");
    let mut driver = std::process::Command::new(folder.join("bench"));
    driver.current_dir(&workspace.root).arg("--binaries").arg(&folder).args(options);
    run_command(&mut driver)
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder(workspace: &Workspace) -> Result<std::path::PathBuf> {
    let printed = crate::cargo::output(cargo(&workspace.root).args([
        "metadata",
        "--no-deps",
        "--format-version",
        "1",
    ]))?;
    let metadata: serde_json::Value = serde_json::from_str(&printed).context("cargo metadata is not JSON")?;
    let folder = metadata["target_directory"].as_str().context("cargo metadata names no target folder")?;
    Ok(folder.into())
}
