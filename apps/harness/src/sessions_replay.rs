//! `harness sessions replay`.
use std::fmt::Write as _;

use anyhow::Result;
use harness_bundle::{Harness, replay_session};
use harness_session::SessionId;
use harness_session_replay::Report;
use serde_json::json;

use crate::exit::Exit;
use crate::output::Output;
use crate::sessions_check::known;

/// Replays what is stored of a session.
pub(crate) async fn replay(harness: &Harness, id: SessionId, json: bool, output: &Output) -> Result<Exit> {
    let snapshot = harness.persistence()?.inspect(id, &known(harness)).await?;
    let stored = usize::try_from(snapshot.stored).unwrap_or(usize::MAX).min(snapshot.events.len());
    let report = replay_session(&snapshot.header, &snapshot.events[..stored]).await?;
    output.data(&if json { as_json(id, &report) } else { as_text(&report) });
    Ok(if report.difference.is_none() { Exit::Done } else { Exit::Failed })
}

fn as_json(id: SessionId, report: &Report) -> String {
    let difference = report.difference.as_ref().map(|difference| {
        json!({ "seq": difference.seq, "recorded": difference.recorded, "replayed": difference.replayed })
    });
    let value = json!({
        "id": id.to_string(),
        "same": report.difference.is_none(),
        "turns": report.turns,
        "requests": report.requests,
        "calls": report.calls,
        "compared": report.compared,
        "taken": report.taken,
        "difference": difference,
    });
    format!("{value}\n")
}

fn as_text(report: &Report) -> String {
    let Report { turns, requests, calls, compared, .. } = report;
    let mut text = format!("{turns} turns, {requests} requests and {calls} tool calls driven again\n");
    for (what, count) in &report.taken {
        let _ = writeln!(text, "taken from the record: {what} ({count})");
    }
    match &report.difference {
        None => {
            let _ = writeln!(text, "the same log came out: {compared} things compared");
        }
        Some(difference) => {
            let side = |said: &Option<String>| said.clone().unwrap_or_else(|| "nothing more".to_owned());
            let _ = writeln!(text, "it differs at event {}:", difference.seq);
            let _ = writeln!(text, "  recorded: {}", side(&difference.recorded));
            let _ = writeln!(text, "  replayed: {}", side(&difference.replayed));
        }
    }
    text
}
