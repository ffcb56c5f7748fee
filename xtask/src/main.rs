//! Repository chores of Harness. `cargo xtask help` lists them.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool: it starts cargo, reads the source tree and talks to a terminal"
)]

mod bench;
mod cargo;
mod catalog;
mod dist;
mod finding;
mod source;
mod suite;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

const HELP: &str = "\
usage: cargo xtask <command>

commands:
  test                everything that must hold: format, tidy, lints, tests, doc tests, catalog
  tidy                layering, sizes, docs and manifests of the workspace
  catalog [--check]   writes docs/catalog from the source and the composed harness, or says what is stale
  bench [options]     the figures table, ours beside the floor; `bench --help` lists the options
  dist                release tarball with licences and checksum under target/dist
  help                this text
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test"] => suite::run(&Workspace::load()?),
        ["tidy"] => tidy::run(&Workspace::load()?),
        ["catalog"] => catalog::write(&Workspace::load()?),
        ["catalog", "--check"] => catalog::check(&Workspace::load()?),
        ["bench", options @ ..] => bench::run(&Workspace::load()?, options),
        ["dist"] => dist::run(&Workspace::load()?),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("unknown command `{}`; `cargo xtask help` lists the commands", other.join(" ")),
    }
}
