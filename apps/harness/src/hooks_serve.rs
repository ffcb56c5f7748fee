//! `harness hooks run` and `harness hooks listen`.
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use harness_config::Environment;
use harness_hooks::{ChatOracle, Decision, Engine, Listener, Place, Reply};
use harness_http::HttpConfig;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::exit::Exit;
use crate::hooks::Found;
use crate::hooks_args::EngineArgs;
use crate::output::Output;
use crate::signals::Signals;

/// What `run` is asked for.
pub(crate) struct Asked {
    pub(crate) event: String,
    pub(crate) payload: Option<String>,
    pub(crate) subject: Option<String>,
}

fn engine(args: EngineArgs, environment: &Environment) -> Result<Engine> {
    let mut engine = Engine::new(args.profile.into());
    if let Some(seconds) = args.timeout {
        let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|timeout| !timeout.is_zero());
        engine.timeout = Some(timeout.with_context(|| format!("{seconds} is no timeout in seconds"))?);
    }
    if let Some(url) = &args.llm_base_url {
        let key = args.llm_key_env.as_deref().and_then(|name| environment.get(name)).map(str::to_owned);
        engine.oracle = Some(Arc::new(ChatOracle::new(&HttpConfig::default(), url, args.llm_model, key)?));
    }
    engine.proxy_command = args.proxy_command;
    Ok(engine)
}

fn listener(found: Found, args: EngineArgs, environment: &Environment, output: &Output) -> Result<Listener> {
    let variables = environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let place = Place {
        cwd: found.cwd.clone(),
        project: found.project.clone(),
        home: found.home.clone(),
        env: variables.collect(),
    };
    for file in found.in_force().1 {
        output.talk(&format!(
            "harness: the hooks of {} do not run: this project is not trusted; see `harness config trust`",
            file.display()
        ));
    }
    let listener = Listener::new(engine(args, environment)?, place, move || found.in_force().0);
    for finding in listener.hooks().diagnostics() {
        output.talk(&format!("harness: hooks: {finding}"));
    }
    Ok(listener)
}

/// Runs the hooks of one event. Fails on input that is none.
pub(crate) async fn run(
    found: Found,
    args: EngineArgs,
    asked: Asked,
    environment: &Environment,
    output: &Output,
) -> Result<Exit> {
    let listener = listener(found, args, environment, output)?;
    let text = if let Some(text) = asked.payload {
        text
    } else {
        let mut text = String::new();
        tokio::io::stdin().read_to_string(&mut text).await.context("standard input cannot be read")?;
        text
    };
    let payload: Map<String, Value> = if text.trim().is_empty() {
        Map::new()
    } else {
        serde_json::from_str(&text).context("the payload is not a JSON object")?
    };
    let mut signals = Signals::listen()?;
    let cancel = output.gone().child_token();
    let running = listener.run(&asked.event, payload, asked.subject.as_deref(), None, &cancel);
    let report = tokio::select! {
        report = running => report.map_err(|error| anyhow!(error))?,
        signal = signals.next() => return Ok(signal.exit()),
    };
    for warning in report.warnings() {
        output.talk(&format!("harness: {warning}"));
    }
    let denied = report.outcome.decision == Some(Decision::Deny);
    output.data(&format!("{}\n", json!({ "outcome": report.outcome, "runs": report.runs })));
    Ok(if denied { Exit::Denied } else { Exit::Done })
}

/// Serves the line protocol until `bye` or the end of standard input.
pub(crate) async fn listen(
    found: Found,
    args: EngineArgs,
    environment: &Environment,
    output: &Output,
) -> Result<Exit> {
    let mut listener = listener(found, args, environment, output)?;
    let mut signals = Signals::listen()?;
    let cancel = output.gone().child_token();
    let mut lines = BufReader::new(tokio::io::stdin()).split(b'\n');
    loop {
        let line = tokio::select! {
            line = lines.next_segment() => line.context("standard input cannot be read")?,
            signal = signals.next() => return Ok(signal.exit()),
            () = output.gone().cancelled() => return Ok(Exit::OUTPUT_CLOSED),
        };
        let Some(line) = line else { return Ok(Exit::Done) };
        let line = String::from_utf8_lossy(&line).into_owned();
        let reply = tokio::select! {
            reply = listener.answer(&line, &cancel) => reply,
            signal = signals.next() => return Ok(signal.exit()),
        };
        match reply {
            Reply::Nothing => {}
            Reply::Line(value) => {
                output.data(&format!("{value}\n"));
                output.room().await;
            }
            Reply::Bye(value) => {
                output.data(&format!("{value}\n"));
                return Ok(Exit::Done);
            }
        }
    }
}
