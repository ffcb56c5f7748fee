//! Starting cargo from within a program that cargo started.
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A cargo command in `root`, as if a person had typed it.
///
/// Cargo describes the running package in `CARGO_PKG_*` and `CARGO_MANIFEST_*`. Build scripts that watch those
/// variables would be built again for each kind of caller, so the child does not inherit them.
pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "NEXTEST"]
            .iter()
            .any(|start| text.starts_with(start))
        {
            command.env_remove(&name);
        }
    }
    command.env_remove("CARGO").env_remove("CARGO_CRATE_NAME");
    command.current_dir(root).stdin(Stdio::null());
    command
}

fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Whether `cargo <subcommand>` is installed.
pub(crate) fn has_subcommand(root: &Path, subcommand: &str) -> bool {
    let probe =
        cargo(root).args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}

/// Runs a command that prints for itself.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = describe(command);
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// Runs a command for what it prints on stdout.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = describe(command);
    let output = command.output().with_context(|| format!("`{shown}` could not be started"))?;
    if !output.status.success() {
        bail!(
            "`{shown}` failed ({}):\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed something other than UTF-8"))
}

/// The command as one would type it.
pub(crate) fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
