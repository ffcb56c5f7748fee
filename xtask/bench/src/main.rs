//! Measures the harness beside the floor and prints the figures table. Started by `cargo xtask bench`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool: it starts the programs that it measures and prints what it saw"
)]

mod figures;
mod log_append;
mod measure;
mod options;
mod program;
mod run;
mod script;
mod server;
mod stats;
mod table;

use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::options::Options;
use crate::table::Row;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((first, rest)) if first == measure::COMMAND => return measure::as_child(rest),
        _ => Options::parse(&arguments).and_then(|options| options.map_or(Ok(()), |options| bench(&options))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn bench(options: &Options) -> Result<()> {
    let mut rows: Vec<Row> = Vec::new();
    for (name, figure) in figures::ALL {
        if options.wants(name) {
            eprintln!("measuring {name} …");
            rows.extend(figure(options)?);
        }
    }
    ensure!(!rows.is_empty(), "no figure is called `{}`", options.only.as_deref().unwrap_or_default());
    print!("\n{}", table::render(&rows));
    let missed: Vec<_> =
        rows.iter().filter(|row| row.holds() == Some(false)).map(|row| row.figure.as_str()).collect();
    ensure!(missed.is_empty(), "{} figure(s) do not hold: {}", missed.len(), missed.join("; "));
    Ok(())
}
