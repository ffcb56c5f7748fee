//! What a package brings along: how many packages, and none that its users did not ask for.
use std::collections::BTreeSet;

use anyhow::Result;

use super::layers::{Kind, kind_of};
use crate::cargo;
use crate::finding::Finding;
use crate::workspace::Workspace;

/// Most packages that a seam may bring along, itself included.
const SEAM_PACKAGES: usize = 50;
/// Most packages from elsewhere that the default program may be made of. Our own are not counted: many small ones are
/// the design.
const APP_PACKAGES: usize = 212;
/// What no seam may bring along: HTTP, TLS, a database, a schema compiler.
const NOT_IN_A_SEAM: &[&str] = &["hyper", "jsonschema", "libsqlite3-sys", "reqwest", "rusqlite", "rustls"];

/// A package with all that it is built from.
pub(super) struct Closure {
    package: String,
    manifest: String,
    kind: Kind,
    packages: BTreeSet<String>,
}

/// Asks cargo, with the features that the package has when it is built alone.
pub(super) fn read(workspace: &Workspace) -> Result<Vec<Closure>> {
    let mut closures = Vec::new();
    for member in &workspace.members {
        let Some(kind @ (Kind::Kernel | Kind::Seam | Kind::App)) = kind_of(&member.name) else { continue };
        let printed = cargo::output(cargo::cargo(&workspace.root).args([
            "tree",
            "--quiet",
            "--package",
            &member.name,
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ]))?;
        closures.push(Closure {
            package: member.name.clone(),
            manifest: member.manifest(),
            kind,
            packages: parse(&printed),
        });
    }
    Ok(closures)
}

/// `name vVERSION` of each line; a package that occurs again is marked, and counted once.
fn parse(printed: &str) -> BTreeSet<String> {
    printed
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some(format!("{} {}", words.next()?, words.next()?))
        })
        .collect()
}

pub(super) fn check(closure: &Closure) -> Vec<Finding> {
    let mut findings = Vec::new();
    let limit = if closure.kind == Kind::App { APP_PACKAGES } else { SEAM_PACKAGES };
    let is_counted = |package: &&String| {
        let name = package.split(' ').next().unwrap_or_default();
        closure.kind != Kind::App || kind_of(name).is_none()
    };
    let count = closure.packages.iter().filter(is_counted).count();
    if count > limit {
        findings.push(Finding::whole(
            &closure.manifest,
            format!(
                "`{}` ({}) is made of {count} packages{}, at most {limit} are allowed",
                closure.package,
                closure.kind,
                if closure.kind == Kind::App { " from elsewhere" } else { "" }
            ),
        ));
    }
    if closure.kind != Kind::App {
        for package in &closure.packages {
            let name = package.split(' ').next().unwrap_or_default();
            if NOT_IN_A_SEAM.contains(&name) {
                let message = format!(
                    "`{}` ({}) brings `{package}` along; find out how with `cargo tree -p {} -i {name}`",
                    closure.package, closure.kind, closure.package
                );
                findings.push(Finding::whole(&closure.manifest, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::assert_findings;

    fn closure(kind: Kind, packages: impl IntoIterator<Item = String>) -> Closure {
        Closure {
            package: "harness-x".into(),
            manifest: "crates/harness-x/Cargo.toml".into(),
            kind,
            packages: packages.into_iter().collect(),
        }
    }
    fn numbered(count: usize) -> impl Iterator<Item = String> {
        (0..count).map(|number| format!("p{number} v1.0.0"))
    }

    #[test]
    fn the_list_of_cargo_tree_is_counted_once_a_package() {
        let printed = "a v1.0.0 (/somewhere)\nb v0.1.0 (proc-macro)\nb v0.1.0 (proc-macro) (*)\nb v0.2.0\n\n";
        assert_eq!(parse(printed).into_iter().collect::<Vec<_>>(), ["a v1.0.0", "b v0.1.0", "b v0.2.0"]);
    }

    #[test]
    fn a_heavy_package_is_refused() {
        assert_findings(&check(&closure(Kind::Seam, numbered(50))), &[]);
        assert_findings(&check(&closure(Kind::Seam, numbered(51))), &["made of 51 packages, at most 50"]);
        let own = ["harness-kernel v0.1.0".to_owned(), "harness-llm v0.1.0".to_owned()];
        assert_findings(&check(&closure(Kind::App, numbered(212).chain(own.clone()))), &[]);
        let heavy = check(&closure(Kind::App, numbered(213).chain(own)));
        assert_findings(&heavy, &["made of 213 packages from elsewhere, at most 212"]);
    }

    #[test]
    fn a_seam_brings_no_http_along() {
        let packages = || ["serde v1.0.0".to_owned(), "reqwest v0.13.5".to_owned()];
        assert_findings(&check(&closure(Kind::Seam, packages())), &["brings `reqwest v0.13.5` along"]);
        assert_findings(&check(&closure(Kind::App, packages())), &[]);
    }
}
