//! `harness sessions`.
use anyhow::Result;
use harness_bundle::Harness;
use harness_config::{Environment, Paths};
use harness_session::{Form, SessionId, Sessions, encode_event};
use harness_session_persistence::{KnownTypes, SessionSummary, Snapshot};
use serde_json::json;

use crate::args::SessionsCommand;
use crate::compose::{settings, working_folder};
use crate::exit::Exit;
use crate::output::Output;
use crate::sessions_check;
use crate::sessions_convert;
use crate::sessions_export::export;
use crate::sessions_remove;
use crate::sessions_replay;
use crate::sessions_show::transcript;

pub(crate) async fn run(command: SessionsCommand, environment: &Environment, output: &Output) -> Exit {
    output.exit(with_harness(command, environment, output).await)
}

async fn with_harness(command: SessionsCommand, environment: &Environment, output: &Output) -> Result<Exit> {
    let paths = Paths::resolve(environment)?;
    let cwd = working_folder(None)?;
    let config = settings(environment, &paths, &cwd, output)?;
    let harness = Harness::start(&config, environment, &paths).await?;
    let result = match command {
        SessionsCommand::List { json, limit } => list(&harness, json, limit, output).await,
        SessionsCommand::Show { id, json } => show(&harness, id, json, output).await,
        SessionsCommand::Check { id, json, all: _ } => {
            sessions_check::check(&harness, id, json, output).await
        }
        SessionsCommand::Repair { id, dry_run, json } => {
            sessions_check::repair(&harness, id, dry_run, json, output).await
        }
        SessionsCommand::Fork { id, at, json } => sessions_check::fork(&harness, id, at, json, output).await,
        SessionsCommand::Replay { id, json } => sessions_replay::replay(&harness, id, json, output).await,
        SessionsCommand::Convert { ids, all: _, to, remove } => {
            sessions_convert::convert(&harness, &config, &paths, ids, to, remove, output).await
        }
        SessionsCommand::Rm { ids, older_than, json } => {
            sessions_remove::remove(&harness, ids, older_than, json, output).await
        }
        SessionsCommand::Export(args) => export(&harness, &args, output).await,
    };
    harness.shutdown().await?;
    result
}

async fn list(harness: &Harness, json: bool, limit: Option<usize>, output: &Output) -> Result<Exit> {
    let listing = harness.persistence()?.list().await?;
    for bad in &listing.unreadable {
        output.talk(&format!("harness: {}: {}", bad.location, bad.error));
    }
    for session in listing.sessions.iter().take(limit.unwrap_or(usize::MAX)) {
        output.data(&if json { json_line(session) } else { text_line(session) });
    }
    if listing.sessions.is_empty() && !json {
        output.talk("no sessions yet");
    }
    Ok(if listing.unreadable.is_empty() { Exit::Done } else { Exit::Failed })
}

fn json_line(session: &SessionSummary) -> String {
    let value = json!({
        "id": session.header.id.to_string(),
        "created_at": session.header.created_at,
        "modified": session.modified,
        "cwd": session.header.cwd,
        "parent": session.header.parent.map(|parent| parent.to_string()),
        "inherited": session.header.inherited,
        "bytes": session.bytes,
        "events": session.events,
        "turns": session.turns,
        "title": session.title,
    });
    format!("{value}\n")
}

fn text_line(session: &SessionSummary) -> String {
    let time = jiff::Timestamp::from_millisecond(session.modified).unwrap_or_default();
    let time = time.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M");
    let title = session.title.as_deref().unwrap_or("(no prompt)");
    let cwd = session.header.cwd.as_deref().unwrap_or("-");
    format!("{}  {time}  {cwd}  {title}\n", session.header.id)
}

/// Reads a session without taking it: another process may be writing it.
pub(crate) async fn inspect(harness: &Harness, id: SessionId, output: &Output) -> Result<Snapshot> {
    let known = match harness.ctx().service::<Sessions>() {
        Some(sessions) => KnownTypes::from(sessions.as_ref()),
        None => KnownTypes::default(),
    };
    let snapshot = harness.persistence()?.inspect(id, &known).await?;
    for repair in &snapshot.repairs {
        output.talk(&format!("harness: session {id}: {repair}"));
    }
    Ok(snapshot)
}

async fn show(harness: &Harness, id: SessionId, json: bool, output: &Output) -> Result<Exit> {
    let snapshot = inspect(harness, id, output).await?;
    if json {
        for event in &snapshot.events {
            output.data(&(encode_event(event, Form::Full)? + "\n"));
        }
    } else {
        output.data(&transcript(&snapshot.header, &snapshot.events));
    }
    Ok(Exit::Done)
}
