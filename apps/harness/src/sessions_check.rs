//! `harness sessions check`, `repair` and `fork`.
use std::fmt::Write as _;

use anyhow::{Result, bail};
use harness_bundle::Harness;
use harness_session::{Clock, SessionId, Sessions, SystemClock};
use harness_session_persistence::{Fork, Health, KnownTypes, RepairReport, fork_recorded};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn known(harness: &Harness) -> KnownTypes {
    harness.ctx().service::<Sessions>().map_or_else(KnownTypes::default, |sessions| sessions.as_ref().into())
}

/// Looks at one session, or all of them, and changes none.
pub(crate) async fn check(
    harness: &Harness,
    id: Option<SessionId>,
    json: bool,
    output: &Output,
) -> Result<Exit> {
    let persistence = harness.persistence()?;
    let known = known(harness);
    let mut damaged = false;
    let mut ids: Vec<SessionId> = id.into_iter().collect();
    if ids.is_empty() {
        let listing = persistence.list().await?;
        ids.extend(listing.sessions.iter().map(|session| session.header.id));
        for bad in listing.unreadable {
            // What has a session's name is looked at as one; the rest can only be named.
            if let Some(id) = bad.id {
                ids.push(id);
            } else {
                damaged = true;
                output.talk(&format!("harness: {}: {}", bad.location, bad.error));
            }
        }
    }
    for id in ids {
        let health = persistence.check(id, &known).await?;
        damaged |= !health.faults.is_empty();
        output.data(&if json { check_json(id, &health) } else { check_text(id, &health) });
        output.room().await;
    }
    Ok(if damaged { Exit::Failed } else { Exit::Done })
}

fn check_json(id: SessionId, health: &Health) -> String {
    let faults: Vec<Value> = health
        .faults
        .iter()
        .map(|fault| {
            let position = fault.position.map(|position| position.to_string());
            json!({ "code": fault.code, "position": position, "detail": fault.detail })
        })
        .collect();
    let notes: Vec<String> = health.notes.iter().map(ToString::to_string).collect();
    let value = json!({
        "id": id.to_string(),
        "ok": health.faults.is_empty(),
        "events": health.events,
        "turns": health.turns,
        "faults": faults,
        "mended_on_open": notes,
    });
    format!("{value}\n")
}

fn check_text(id: SessionId, health: &Health) -> String {
    let mut text = if health.faults.is_empty() {
        format!("{id}  ok  {} turns, {} events\n", health.turns, health.events)
    } else {
        format!("{id}  damaged: `harness sessions repair {id}` keeps what can be read\n")
    };
    for fault in &health.faults {
        let place = fault.position.map_or_else(String::new, |position| format!("{position}: "));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {place}{} [{}]", fault.detail, fault.code);
    }
    for note in &health.notes {
        let _ = writeln!(text, "  mended when it is opened: {note}");
    }
    text
}

/// Keeps what can be kept of a damaged session.
pub(crate) async fn repair(
    harness: &Harness,
    id: SessionId,
    dry_run: bool,
    json: bool,
    output: &Output,
) -> Result<Exit> {
    let RepairReport { losses, kept, backup, set_aside } =
        harness.persistence()?.repair(id, &known(harness), dry_run).await?;
    if json {
        let losses =
            losses.iter().map(|loss| json!({ "position": loss.position.to_string(), "detail": loss.detail }));
        let value = json!({
            "id": id.to_string(),
            "dry_run": dry_run,
            "kept": kept,
            "lost": losses.collect::<Value>(),
            "backup": backup,
            "set_aside": set_aside,
        });
        output.data(&format!("{value}\n"));
        return Ok(Exit::Done);
    }
    if losses.is_empty() {
        output.data(&format!("session {id} is not damaged: {kept} events, nothing was changed\n"));
        return Ok(Exit::Done);
    }
    for loss in &losses {
        output.data(&format!("lost: {}: {}\n", loss.position, loss.detail));
    }
    let would = if dry_run { " would be" } else { "" };
    output.data(&format!("{kept} events{would} kept, {} lost\n", losses.len()));
    for (what, path) in [("the original", backup), ("what was not kept", set_aside)] {
        if let Some(path) = path {
            output.data(&format!("{what} is in {path}\n"));
        }
    }
    Ok(Exit::Done)
}

/// Forks a session and prints the new one's identity.
pub(crate) async fn fork(
    harness: &Harness,
    parent: SessionId,
    turn: Option<u32>,
    json: bool,
    output: &Output,
) -> Result<Exit> {
    let Some(sessions) = harness.ctx().service::<Sessions>() else { bail!("there is no session service") };
    let scope = harness.ctx().scope("fork");
    let fork = Fork { parent, turn, created_at: SystemClock.now_ms() };
    let recorded = fork_recorded(&scope, &sessions, harness.persistence()?.as_ref(), fork).await?;
    let (id, turns) = (recorded.session.id(), recorded.session.turns());
    if json {
        let value = json!({ "id": id.to_string(), "parent": parent.to_string(), "turns": turns });
        output.data(&format!("{value}\n"));
    } else {
        output.data(&format!("{id}\n"));
        output.talk(&format!(
            "forked from {parent} after turn {turns}; go on with `harness run --resume {id}`"
        ));
    }
    scope.dispose().await?;
    Ok(Exit::Done)
}
