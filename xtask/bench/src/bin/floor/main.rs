//! The floor: the least that a program must do to run a task with a model and a shell.
//!
//! One client, one loop: stream an answer, run `bash -c` for each tool call, append what happened as JSON lines.
//! No plugins, no policy, no resume, no limits. What the harness costs is measured beside this.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a program of its own, which does all that the crates do for the harness"
)]

mod log;
mod request;
mod shell;
mod stream;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::log::Log;
use crate::request::History;

struct Options {
    task: String,
    base_url: String,
    model: String,
    log: String,
    sync: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--version"] {
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), "floor {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    match options(&arguments).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn options(arguments: &[String]) -> Result<Options> {
    let [task, rest @ ..] = arguments else {
        bail!("usage: floor TASK --base-url URL --model NAME --log FILE [--durability sync|write]")
    };
    let value = |name: &str| {
        rest.iter().position(|word| word == name).and_then(|index| rest.get(index + 1)).map(String::as_str)
    };
    let needed = |name: &str| value(name).map(str::to_owned).with_context(|| format!("{name} is missing"));
    Ok(Options {
        task: task.clone(),
        base_url: needed("--base-url")?,
        model: needed("--model")?,
        log: needed("--log")?,
        sync: value("--durability") != Some("write"),
    })
}

fn run(options: &Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(converse(options))
}

async fn converse(options: &Options) -> Result<()> {
    let key = std::env::var("OPENAI_API_KEY").context("OPENAI_API_KEY is not set")?;
    let client = harness_http::client(&harness_http::HttpConfig::default())?;
    let url = format!("{}/chat/completions", options.base_url);
    let mut log = Log::open(&options.log, options.sync)?;
    let mut history = History::new(&options.model);
    log.append(history.user(&options.task))?;
    loop {
        log.barrier()?;
        let request = client.post(&url).bearer_auth(&key).header("content-type", "application/json");
        let response = request.body(history.body()?).send().await?.error_for_status()?;
        let answer = stream::read(response).await?;
        log.append(history.assistant(&answer))?;
        if answer.calls.is_empty() {
            return log.barrier();
        }
        for call in &answer.calls {
            log.barrier()?;
            let output = shell::run(&call.arguments)?;
            log.append(history.tool(&call.id, &output))?;
        }
    }
}
