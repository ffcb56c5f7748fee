//! `harness demo`: the real loop, tools, stream and log, against a scripted model on the loopback interface.
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use harness_bundle::{Harness, sections};
use harness_config::{Config, Environment, Paths};
use harness_llm_mock::{MockServer, Options};
use harness_process::{ProcessOutcome, ProcessSpec};
use tokio_util::sync::CancellationToken;

use crate::args::DemoArgs;
use crate::demo_script::{FILES, TASK, script};
use crate::drive::{Style, conclude, drive};
use crate::exit::Exit;
use crate::output::Output;
use crate::signals::Signals;

pub(crate) async fn run(args: DemoArgs, environment: &Environment, output: &Arc<Output>) -> Exit {
    output.exit(demo(&args, environment, output).await.context("the demo failed"))
}

async fn demo(args: &DemoArgs, environment: &Environment, output: &Arc<Output>) -> Result<Exit> {
    let mut signals = Signals::listen()?;
    let home = folder(args.dir.as_deref())?;
    let project = home.join("project");
    std::fs::create_dir_all(&project).with_context(|| format!("{} cannot be made", project.display()))?;
    for (name, text) in FILES {
        let path = project.join(name);
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    output
        .talk("This demo needs no key and no network. The model is SCRIPTED: a small server on the loopback");
    output.talk(
        "interface plays its part. The loop, the tools, the stream and the session log are the real ones.",
    );
    output.talk(&format!("project: {}", project.display()));
    let before = test(&project, environment).await?;
    if before.exit_code == Some(0) {
        bail!("the test passes before anything was done");
    }
    output.talk(&format!("before:  `sh test.sh` fails (exit code {})\n", shown(&before)));
    output.talk(&format!("> {TASK}\n"));

    let server = MockServer::start(script(), Options::default()).await?;
    let paths = Paths::under(&home);
    let config = sections(Config::builder())
        .flag("demo", &["model", "provider"], "openai".into())
        .flag("demo", &["model", "name"], "scripted-demo".into())
        .flag("demo", &["providers", "openai", "base_url"], server.base_url().into())
        .build();
    let harness = Harness::start(&config, environment, &paths).await?;
    let opened = harness.create(harness.agent_options(project.clone())?).await?;
    let style = if args.json { Style::Json } else { Style::Text };
    let (exit, summary) = drive(&opened.agent, TASK.to_owned(), style, output, &mut signals).await;
    conclude(&opened.agent, exit, &summary, style, output);
    let log = harness.persistence()?.locate(opened.agent.id());
    opened.agent.dispose().await;
    harness.shutdown().await?;
    server.shutdown().await;
    if exit != Exit::Done {
        return Ok(exit);
    }

    let after = test(&project, environment).await?;
    output.talk(&format!("\nafter:   `sh test.sh` ends with exit code {}", shown(&after)));
    if let Some(log) = log {
        output.talk(&format!("log:     {log}"));
    }
    if after.exit_code != Some(0) {
        bail!("the test still fails");
    }
    output.talk("The test passes. Try it with a model of your own: `harness run --help`.");
    Ok(Exit::Done)
}

/// A folder for the demo alone. It is left behind, so that its log can be read.
fn folder(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        None => Ok(tempfile::Builder::new().prefix("harness-demo-").tempdir()?.keep()),
        Some(folder) => {
            let folder = std::path::absolute(folder)?;
            let taken = std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some());
            anyhow::ensure!(!taken, "{} is not empty", folder.display());
            Ok(folder)
        }
    }
}

/// Runs the project's test as a person would, apart from the agent.
async fn test(project: &Path, environment: &Environment) -> Result<ProcessOutcome> {
    let mut spec = ProcessSpec::new("/bin/sh", project);
    spec.args = vec!["test.sh".into()];
    spec.env = environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    spec.timeout = Some(Duration::from_secs(30));
    harness_process::run(spec, CancellationToken::new()).await.context("the test could not be run")
}

fn shown(outcome: &ProcessOutcome) -> String {
    outcome.exit_code.map_or_else(|| "none".to_owned(), |code| code.to_string())
}
