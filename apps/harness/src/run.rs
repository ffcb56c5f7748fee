//! `harness run`.
use std::sync::Arc;

use anyhow::{Result, bail};
use harness_bundle::{Harness, OpenedAgent};
use harness_compact::CompactError;
use harness_config::{Environment, Paths};

use crate::args::RunArgs;
use crate::compact::compact;
use crate::compose::{run_settings, working_folder};
use crate::drive::{Style, conclude, drive};
use crate::envelope::{Envelope, Problem};
use crate::exit::Exit;
use crate::output::Output;
use crate::signals::Signals;
use crate::stdin::{Piped, piped};

pub(crate) async fn run(args: RunArgs, environment: &Environment, output: &Arc<Output>) -> Exit {
    let style = if args.json { Style::Json } else { Style::Text };
    let prompt = match prompt(args.task.as_deref(), output) {
        Ok(Some(prompt)) => prompt,
        Ok(None) => {
            let text = "no task: pass one as an argument, or pipe it in (see `harness run --help`)";
            return fail(output, style, Exit::Usage, "USAGE", text);
        }
        Err(error) => return fail(output, style, Exit::Usage, "USAGE", &format!("{error:#}")),
    };
    match one_run(&args, prompt, style, environment, output).await {
        Ok(exit) => exit,
        Err(error) => fail(output, style, Exit::Failed, &code(&error), &format!("{error:#}")),
    }
}

/// The task, with piped text after it.
fn prompt(task: Option<&str>, output: &Output) -> Result<Option<String>> {
    let task = task.map(str::trim).filter(|task| !task.is_empty());
    let piped = piped(task.is_some());
    if piped == Piped::Silent {
        output.talk("harness: standard input is open but says nothing, and is not waited for");
    }
    Ok(match (task, piped) {
        (_, Piped::Bad(problem)) => bail!("{problem}"),
        (Some(task), Piped::Text(text)) => Some(format!("{task}\n\n{text}")),
        (Some(task), Piped::Nothing | Piped::Silent) => Some(task.to_owned()),
        (None, Piped::Text(text)) => Some(text),
        (None, Piped::Nothing | Piped::Silent) => None,
    })
}

async fn one_run(
    args: &RunArgs,
    prompt: String,
    style: Style,
    environment: &Environment,
    output: &Arc<Output>,
) -> Result<Exit> {
    let paths = Paths::resolve(environment)?;
    let cwd = working_folder(args.cwd.as_deref())?;
    let config = run_settings(args, environment, &paths, &cwd, output)?;
    let mut signals = Signals::listen()?;
    output.listen()?;
    let harness = Harness::start(&config, environment, &paths).await?;
    let result = session(args, prompt, style, &harness, cwd, output, &mut signals).await;
    let down = harness.shutdown().await;
    let exit = result?;
    down?;
    Ok(exit)
}

async fn session(
    args: &RunArgs,
    prompt: String,
    style: Style,
    harness: &Harness,
    cwd: std::path::PathBuf,
    output: &Arc<Output>,
    signals: &mut Signals,
) -> Result<Exit> {
    let options = harness.agent_options(cwd.clone())?;
    let id = match args.resume {
        None if args.r#continue => Some(harness.latest(&cwd).await?),
        resume => resume,
    };
    let OpenedAgent { agent, repairs } = match id {
        Some(id) if args.fork => harness.resume_or_fork(id, options).await?,
        Some(id) => harness.resume(id, options).await?,
        None => harness.create(options).await?,
    };
    if let Some(parent) = id.filter(|id| *id != agent.id()) {
        output.talk(&format!(
            "harness: session {parent} is in use; this goes on in a fork, session {}",
            agent.id()
        ));
    }
    for repair in repairs {
        output.talk(&format!("harness: session {}: {repair}", agent.id()));
    }
    if args.compact
        && let Some(exit) = compact(&agent, output, signals).await?
    {
        agent.dispose().await;
        return Ok(exit);
    }
    let (exit, summary) = drive(&agent, prompt, style, output, signals).await;
    conclude(&agent, exit, &summary, style, output);
    agent.dispose().await;
    Ok(exit)
}

/// The stable code of an error, if it has one.
pub(crate) fn code(error: &anyhow::Error) -> String {
    let known = error.chain().find_map(|cause| {
        cause.downcast_ref::<harness_bundle::BundleError>().map(harness_bundle::BundleError::code).or_else(
            || cause.downcast_ref::<harness_config::ConfigError>().map(harness_config::ConfigError::code),
        )
    });
    let known = known.or_else(|| {
        error.chain().find_map(|cause| cause.downcast_ref::<CompactError>().map(CompactError::code))
    });
    known.unwrap_or("FAILED").to_owned()
}

fn fail(output: &Output, style: Style, exit: Exit, code: &str, message: &str) -> Exit {
    output.talk(&format!("harness: {message}"));
    if style == Style::Json {
        let problem = Problem { code: code.to_owned(), message: message.to_owned() };
        output.data(&Envelope::end(None, None, Some(problem), exit).line());
    }
    exit
}
