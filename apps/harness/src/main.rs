//! The `harness` command: parse, compose, render. No policy lives here.
#![expect(clippy::disallowed_methods, reason = "the app is where folder, files and environment come in")]
#![allow(clippy::print_stdout, reason = "standard output is where data goes")]

mod args;
mod compose;
mod config_command;
mod demo;
mod demo_script;
mod drive;
mod envelope;
mod exit;
mod logging;
mod mock;
mod output;
mod render;
mod run;
mod sessions;
mod sessions_show;
mod signals;
mod stdin;
mod summary;

use std::process::ExitCode;
use std::time::Duration;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use harness_config::Environment;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no failures; if they cannot be written, nobody reads them.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    let environment = Environment::capture();
    logging::start(&environment);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::Output::default().talk(&format!("harness: the runtime could not start: {error}"));
            return Exit::Failed.into();
        }
    };
    let exit = runtime.block_on(async {
        match cli.command {
            Command::Run(args) => run::run(args, &environment).await,
            Command::Sessions { command } => sessions::run(command, &environment).await,
            Command::Config { command } => config_command::run(command, &environment),
            Command::Demo(args) => demo::run(args, &environment).await,
            Command::MockLlm(args) => mock::run(args).await,
        }
    });
    // A blocking read of a silent pipe must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(100));
    exit.into()
}
