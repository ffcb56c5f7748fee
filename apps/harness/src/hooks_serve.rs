//! `harness hooks run` and `harness hooks listen`.
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use harness_config::Environment;
use harness_hooks::{ChatOracle, Decision, Engine, Listener, Place, Served, serve};
use harness_http::HttpConfig;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

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

/// Serves the line protocol until `bye`, the end of standard input, a signal, or nobody reads the responses any more.
pub(crate) async fn listen(
    found: Found,
    args: EngineArgs,
    environment: &Environment,
    output: &Output,
) -> Result<Exit> {
    let mut listener = listener(found, args, environment, output)?;
    let mut signals = Signals::listen()?;
    let cancel = CancellationToken::new();
    let serving = serve(&mut listener, tokio::io::stdin(), tokio::io::stdout(), &cancel);
    tokio::pin!(serving);
    let exit = tokio::select! {
        served = &mut serving => return ended(served),
        signal = signals.next() => signal.exit(),
        () = reader_gone() => Exit::OUTPUT_CLOSED,
    };
    // What runs is killed before the program ends; how serving ends then says nothing new.
    cancel.cancel();
    drop(serving.await);
    Ok(exit)
}

fn ended(served: std::io::Result<Served>) -> Result<Exit> {
    match served {
        Ok(_) => Ok(Exit::Done),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::OUTPUT_CLOSED),
        Err(error) => Err(error).context("requests or responses cannot be passed on"),
    }
}

/// Returns when the other end of standard output is closed, also while nothing is written. Never for files, where
/// nobody can go away.
async fn reader_gone() {
    let (tell, told) = oneshot::channel();
    // The thread stays in its wait as long as the process lives; nobody waits for it.
    let watching = std::thread::Builder::new().name("harness-reader".into()).spawn(move || {
        let stdout = std::io::stdout();
        // Errors and hang-ups are told without being asked for.
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        loop {
            match poll(&mut watched, None) {
                Ok(1..) => break,
                Ok(0) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
        // The program may have ended on its own.
        let _ = tell.send(());
    });
    if watching.is_err() || told.await.is_err() {
        // It shows when the next response is written.
        std::future::pending::<()>().await;
    }
}
