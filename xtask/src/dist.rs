//! `cargo xtask dist`: one tarball with the release binary, the README, our licences and those of all that is in it.
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::bench::target_folder;
use crate::cargo::{cargo, output, run as run_command};
use crate::workspace::Workspace;

/// Builds, stages, packs and prints the name and the checksum of the tarball.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    run_command(cargo(&workspace.root).args(["build", "--release", "--locked", "--package", "harness"]))?;
    let target = target_folder(workspace)?;
    let triple = host()?;
    let folder = format!("harness-{}-{triple}", env!("CARGO_PKG_VERSION"));
    let dist = target.join("dist");
    let stage = dist.join(&folder);
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("{} cannot be emptied", stage.display()))?;
    }
    fs::create_dir_all(&stage).with_context(|| format!("{} cannot be made", stage.display()))?;
    copy(&target.join("release/harness"), &stage.join("harness"))?;
    copy(&workspace.root.join("README.md"), &stage.join("README.md"))?;
    let licences = licence_files(&workspace.root)?;
    ensure!(
        !licences.is_empty(),
        "there is no LICENSE file in the root: nothing may be given away without one"
    );
    for file in &licences {
        copy(file, &stage.join(file.file_name().unwrap_or_default()))?;
    }
    fs::write(stage.join("THIRD-PARTY.txt"), third_party(workspace)?)
        .context("THIRD-PARTY.txt cannot be written")?;

    let archive = format!("{folder}.tar.gz");
    let mut tar = Command::new("tar");
    tar.current_dir(&dist).arg("-czf").arg(&archive);
    if cfg!(target_os = "linux") {
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    }
    run_command(tar.arg(&folder))?;
    let sum = checksum(&dist, &archive)?;
    fs::write(dist.join(format!("{archive}.sha256")), &sum).context("the checksum cannot be written")?;
    println!("{}\n{}", dist.join(&archive).display(), sum.trim_end());
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("{} cannot be copied to {}", from.display(), to.display()))?;
    Ok(())
}

fn host() -> Result<String> {
    let printed = output(Command::new("rustc").arg("-vV"))?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` does not name the host")?.to_owned())
}

/// In the form that `sha256sum --check` reads.
fn checksum(folder: &Path, archive: &str) -> Result<String> {
    for (program, arguments) in [("sha256sum", &[][..]), ("shasum", &["-a", "256"][..])] {
        let command = Command::new(program).current_dir(folder).args(arguments).arg(archive).output();
        if let Ok(found) = command
            && found.status.success()
        {
            return String::from_utf8(found.stdout).context("the checksum is not text");
        }
    }
    bail!("neither `sha256sum` nor `shasum` made a checksum")
}

/// The texts of all licences in a folder.
fn licence_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{} cannot be listed", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let licence = ["LICENSE", "LICENCE", "COPYING", "NOTICE"].iter().any(|start| name.starts_with(start));
        if licence && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Every package in the binary with its licence, and each licence text once.
fn third_party(workspace: &Workspace) -> Result<String> {
    let tree = ["tree", "--package", "harness", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let tree = output(cargo(&workspace.root).args(tree))?;
    let wanted: BTreeSet<_> = tree.lines().filter_map(name_and_version).collect();
    let metadata = output(cargo(&workspace.root).args([
        "metadata",
        "--format-version",
        "1",
        "--filter-platform",
        &host()?,
    ]))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is not JSON")?;
    let (mut list, mut texts) =
        (String::from("Packages in this program and their licences\n\n"), BTreeSet::new());
    for package in metadata["packages"].as_array().context("cargo metadata lists no packages")? {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let key = (text("name").to_owned(), text("version").to_owned());
        if package["source"].is_null() || !wanted.contains(&key) {
            continue;
        }
        let _ = writeln!(list, "{} {}: {}", key.0, key.1, text("license"));
        let folder = Path::new(text("manifest_path")).parent().context("a manifest without a folder")?;
        for file in licence_files(folder)? {
            texts.insert(
                fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?,
            );
        }
    }
    for text in texts {
        let _ = write!(list, "\n{}\n\n{}\n", "-".repeat(78), text.trim_end());
    }
    Ok(list)
}

/// The parts of a line such as `serde v1.0.229 (proc-macro)`.
fn name_and_version(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace();
    Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_the_tree() {
        assert_eq!(name_and_version("serde v1.0.229 (proc-macro)"), Some(("serde".into(), "1.0.229".into())));
        assert_eq!(name_and_version(""), None);
    }

    #[test]
    fn licence_texts_are_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["LICENSE-MIT", "license.md", "README.md", "COPYING"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        assert_eq!(licence_files(folder.path()).unwrap().len(), 3);
    }
}
