//! `cargo xtask tidy`: rules of the repository that the compiler does not know.
//!
//! Each check is a function from plain data to findings, so that its tests can feed it a bad input.
mod attributes;
mod budget;
mod closure;
mod layering;
mod layers;
mod names;
mod paths;
mod readme;
mod shape;
mod size;
mod unsafety;
mod versions;

use anyhow::{Result, bail};

use crate::finding::Finding;
use crate::source::{self, SourceFile};
use crate::workspace::Workspace;

pub(crate) use budget::check as schema_budget;

/// Runs every check and prints what to mend.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let files = source::load(workspace)?;
    let mut findings = inspect(workspace, &files)?;
    findings.sort();
    findings.dedup();
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("tidy found {} thing(s) to mend", findings.len());
    }
    println!("tidy: {} packages and {} Rust files are in order", workspace.members.len(), files.len());
    Ok(())
}

fn inspect(workspace: &Workspace, files: &[SourceFile]) -> Result<Vec<Finding>> {
    let mut findings = layering::check(&workspace.members);
    for closure in closure::read(workspace)? {
        findings.extend(closure::check(&closure));
    }
    findings.extend(size::check(files));
    findings.extend(unsafety::check(files));
    for file in files {
        findings.extend(shape::check(file));
        findings.extend(attributes::check(file));
    }
    for member in &workspace.members {
        findings.extend(versions::check(&member.manifest(), &workspace.read(&member.manifest())?)?);
        if member.folder.starts_with("crates/") {
            let path = format!("{}/README.md", member.folder);
            let text = workspace.files.contains(&path).then(|| workspace.read(&path)).transpose()?;
            findings.extend(readme::check(member, text.as_deref()));
        }
    }
    for path in &workspace.files {
        findings.extend(names::check(path));
        // Files that are not text have no lines to look at.
        if let Ok(text) = workspace.read(path) {
            findings.extend(paths::check(path, &text));
        }
    }
    Ok(findings)
}
