//! One version of everything: members take their dependencies from the workspace.
use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::finding::Finding;

const TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

pub(super) fn check(path: &str, text: &str) -> Result<Vec<Finding>> {
    let manifest: Table = text.parse().with_context(|| format!("{path} is not TOML"))?;
    let mut findings = Vec::new();
    tables(path, text, &manifest, &mut findings);
    for target in manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values) {
        if let Some(target) = target.as_table() {
            tables(path, text, target, &mut findings);
        }
    }
    if manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(Value::as_bool) != Some(true) {
        findings.push(Finding::whole(
            path,
            "does not take the lints of the workspace: `[lints] workspace = true`",
        ));
    }
    Ok(findings)
}

fn tables(path: &str, text: &str, manifest: &Table, findings: &mut Vec<Finding>) {
    let own_name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
    for (name, value) in TABLES.iter().filter_map(|table| manifest.get(*table)?.as_table()).flatten() {
        // A package may name itself, to run its own contract suite.
        if Some(name.as_str()) != own_name && value.get("workspace").and_then(Value::as_bool) != Some(true) {
            let line = text.lines().position(|line| {
                let line = line.trim_start();
                line.strip_prefix(name.as_str()).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
            });
            let message = format!("`{name}` has a version of its own; put it into [workspace.dependencies]");
            findings.push(Finding::at(path, line.map_or(0, |index| index + 1), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    #[test]
    fn a_version_of_its_own_is_refused() {
        let text = "[lints]\nworkspace = true\n[dependencies]\na.workspace = true\nb = \"1\"\n\
                    c = { workspace = true, features = [\"x\"] }\n[target.'cfg(unix)'.dev-dependencies]\nd = { path = \"../d\" }\n";
        let findings = check("crates/x/Cargo.toml", text).unwrap();
        assert_findings(&findings, &["Cargo.toml:5: `b` has a version", "Cargo.toml:8: `d` has a version"]);
    }

    #[test]
    fn a_package_may_name_itself() {
        let text =
            "[package]\nname = \"x\"\n[lints]\nworkspace = true\n[dev-dependencies]\nx = { path = \".\" }\n";
        assert_findings(&check("crates/x/Cargo.toml", text).unwrap(), &[]);
    }

    #[test]
    fn the_lints_of_the_workspace_are_taken() {
        assert_findings(
            &check("crates/x/Cargo.toml", "[package]\nname = \"x\"\n").unwrap(),
            &["does not take the lints"],
        );
    }
}
