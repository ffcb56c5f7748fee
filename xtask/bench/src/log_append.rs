//! Appends to a session's log while an observer reads it.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use harness_kernel::App;
use harness_llm::Message;
use harness_session::{
    Body, Session, SessionEvent, SessionHeader, SessionPlugin, Sessions, Step, Turn, TurnEnd, TurnEndReason,
    UserMessage,
};

use crate::stats::intervals;

const EVENTS: usize = 100_000;
/// Events of one turn below.
const TURN: usize = 5;

/// What the appends cost.
pub(crate) struct Outcome {
    /// Time of each turn of a few events, in seconds.
    pub(crate) turns: Vec<f64>,
    /// Time of one append, in microseconds.
    pub(crate) microseconds: f64,
}

/// Appends all events once.
pub(crate) fn run() -> Result<Outcome> {
    tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(append_all())
}

async fn append_all() -> Result<Outcome> {
    let app = App::default().with(SessionPlugin::default()).start().await?;
    let ctx = app.ctx().clone();
    let sessions = ctx.service::<Sessions>().context("there is no service `sessions`")?;
    let session = sessions.create(&ctx, SessionHeader::new(0, None), Vec::new())?;
    let read = Arc::new(AtomicU64::new(0));
    let (observed, seen) = (Arc::downgrade(&session), Arc::clone(&read));
    ctx.on::<SessionEvent>(move |notice| {
        // Reads as a display does: the length, the newest event and one from the middle.
        let Some(session) = observed.upgrade() else { return };
        let view = session.view();
        let middle = view.get(view.len() / 2).is_some();
        if middle && view.last().is_some_and(|last| last.seq == notice.event.seq) {
            seen.fetch_add(1, Ordering::Relaxed);
        }
    });
    let start = Instant::now();
    let mut times = vec![start];
    for turn in 1..=EVENTS / TURN {
        one_turn(&session, u32::try_from(turn)?)?;
        times.push(Instant::now());
    }
    let spent: Duration = start.elapsed();
    ensure!(read.load(Ordering::Relaxed) == EVENTS as u64, "the observer did not see every event");
    app.shutdown().await?;
    Ok(Outcome {
        turns: intervals(&times),
        microseconds: spent.as_secs_f64() * 1e6 / crate::measure::to_f64(EVENTS as u64),
    })
}

fn one_turn(session: &Session, turn: u32) -> Result<()> {
    let step = Step { turn, step: 1 };
    let message = Arc::new(Message::user("a short message"));
    let end = TurnEnd { turn, reason: TurnEndReason::Completed };
    let bodies: [Body; TURN] = [
        Body::TurnStart(Turn { turn }),
        Body::StepStart(step),
        Body::UserMessage(UserMessage { message }),
        Body::StepEnd(step),
        Body::TurnEnd(end),
    ];
    for body in bodies {
        session.append(body)?;
    }
    Ok(())
}
