//! The `harness` command: parse, compose, render. No policy lives here.
#![expect(clippy::disallowed_methods, reason = "the app is where folder, files and environment come in")]
#![allow(clippy::print_stdout, reason = "standard output is where data goes")]

mod args;
mod compact;
mod compose;
mod config_command;
mod demo;
mod demo_script;
mod drive;
mod envelope;
mod exit;
mod hooks;
mod hooks_args;
mod hooks_serve;
mod logging;
mod mock;
mod models;
mod output;
mod render;
mod repeats;
mod run;
mod sessions;
mod sessions_check;
mod sessions_convert;
mod sessions_export;
mod sessions_remove;
mod sessions_replay;
mod sessions_show;
mod signals;
mod stdin;
mod summary;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use harness_config::Environment;
use output::Output;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no failures; if they cannot be written, nobody reads them.
            let _ = error.print();
            return if error.use_stderr() {
                hooks_args::illegal(std::env::args_os()).into()
            } else {
                Exit::Done.into()
            };
        }
    };
    let environment = Environment::capture();
    let output = Arc::new(Output::default());
    if let Err(problem) = logging::start(&environment) {
        output.talk(&format!("harness: {problem}"));
    }
    // One thread: a step is a chain of waits, and handing it from thread to thread costs more than it saves. What
    // blocks (processes, files, the log, the output) has threads of its own.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "harness: the runtime could not start: {error}");
            return Exit::Failed.into();
        }
    };
    let exit = runtime.block_on(async {
        let exit = match cli.command {
            Command::Run(args) => run::run(args, &environment, &output).await,
            Command::Sessions { command } => sessions::run(command, &environment, &output).await,
            Command::Config { command } => config_command::run(command, &environment, &output),
            Command::Models { command } => models::run(command, &environment, &output).await,
            Command::Hooks { command } => hooks::run(command, &environment, &output).await,
            Command::Demo(args) => demo::run(args, &environment, &output).await,
            Command::MockLlm(args) => mock::run(args, &output).await,
        };
        output.settle(exit).await
    });
    // A blocking read of a silent pipe must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(100));
    exit.into()
}
