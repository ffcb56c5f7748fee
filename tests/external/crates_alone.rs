//! One crate in an empty program: it builds without the loop, HTTP or a database.
use std::path::Path;
use std::process::Command;

use crate::{cache, succeed, wanted};

#[test]
fn a_seam_crate_builds_alone_in_an_empty_program() {
    if !wanted("building crates alone compiles their dependencies anew") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    for (name, line) in [
        ("harness-session", "let _ = harness_session::Grammar::default();"),
        ("harness-tools", "let _ = harness_tools::ToolsPlugin;"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let cargo = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO"));
            command.args(args).current_dir(folder.path()).env("CARGO_TARGET_DIR", cache().join("alone"));
            succeed(&mut command)
        };
        cargo(&["init", "--quiet", "--name", "empty", "--vcs", "none"]);
        // The versions that the workspace is locked to, so that nothing needs to be looked up.
        std::fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
        let path = root.join("crates").join(name);
        cargo(&["add", "--quiet", "--path", path.to_str().unwrap()]);
        std::fs::write(folder.path().join("src/main.rs"), format!("fn main() {{ {line} }}\n")).unwrap();
        cargo(&["check", "--quiet"]);
        let tree = cargo(&["tree", "--edges", "normal", "--prefix", "none"]);
        for banned in
            ["harness-agent-loop", "reqwest", "hyper", "rustls", "rusqlite", "libsqlite3-sys", "jsonschema"]
        {
            let found = tree.lines().any(|line| line.split(' ').next() == Some(banned));
            assert!(!found, "{name} alone brings {banned}:\n{tree}");
        }
        let mut crates: Vec<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        crates.sort_unstable();
        crates.dedup();
        // The empty program itself is one of them.
        assert!(crates.len() <= 51, "{name} alone brings {} crates", crates.len() - 1);
    }
}
