//! A fork: a new session that starts with the first turns of another one.
use std::sync::Arc;

use harness_kernel::{Ctx, Panic};
use harness_llm::{ContextForm, Message};
use harness_session::{
    AppendError, Body, Event, FlushError, InboxSpliced, InboxTarget, SessionHeader, SessionId, Sessions,
    SessionsError,
};

use crate::before_fork::{BeforeFork, BeforeForkDecision};
use crate::error::PersistenceError;
use crate::known::KnownTypes;
use crate::recorded::{Recorded, options};
use crate::recorder::Recorder;
use crate::service::SessionPersistence;

/// Where to fork, and what the new session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The session to fork. It may be in use: it is only read.
    pub parent: SessionId,
    /// The last turn to keep; the newest completed one if not given.
    pub turn: Option<u32>,
    /// Creation time of the fork, milliseconds since the Unix epoch.
    pub created_at: i64,
}

/// Why no fork was made. Nothing is stored then, except with [`ForkError::Flush`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The session has no such completed turn.
    #[error("session {id} has no completed turn {turn} to fork at{}", last.map_or_else(String::new, |last| format!("; the last one is {last}")))]
    NoTurn {
        /// The session.
        id: SessionId,
        /// The turn that was asked for.
        turn: u32,
        /// The newest completed turn.
        last: Option<u32>,
    },
    /// A listener said no.
    #[error("the fork was rejected: {0}")]
    Rejected(String),
    /// A listener panicked.
    #[error("a listener of session/before-fork failed: {0}")]
    Listener(#[from] Panic),
    /// Storage refused.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
    /// The log does not fit together.
    #[error(transparent)]
    Session(#[from] SessionsError),
    /// The summary was refused.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The fork could not be made durable.
    #[error(transparent)]
    Flush(#[from] FlushError),
}
impl ForkError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoTurn { .. } => "SESSION_NO_SUCH_TURN",
            Self::Rejected(_) => "SESSION_FORK_REJECTED",
            Self::Listener(_) => "LISTENER_FAILED",
            Self::Persistence(error) => error.code(),
            Self::Session(_) => "SESSION_REFUSED",
            Self::Append(error) => error.code(),
            Self::Flush(_) => "NOT_DURABLE",
        }
    }
}

/// Forks a stored session at a completed turn, makes the fork live in `ctx` and records it; it is durable on return.
///
/// # Errors
/// See [`ForkError`].
pub async fn fork_recorded(
    ctx: &Ctx,
    sessions: &Sessions,
    persistence: &dyn SessionPersistence,
    fork: Fork,
) -> Result<Recorded, ForkError> {
    let Fork { parent: id, turn, created_at } = fork;
    let snapshot = persistence.inspect(id, &KnownTypes::from(sessions)).await?;
    let stored = usize::try_from(snapshot.stored).unwrap_or(usize::MAX).min(snapshot.events.len());
    let (turn, cut) = cut(id, &snapshot.events[..stored], turn)?;
    let (kept, left) = snapshot.events.split_at(cut);
    let event = BeforeFork { parent: snapshot.header.clone(), turn, kept: kept.into(), left: left.into() };
    let summary = match ctx.serial(event).await? {
        Some(BeforeForkDecision::Reject { reason }) => return Err(ForkError::Rejected(reason)),
        Some(BeforeForkDecision::Summary(text)) => Some(text),
        None => None,
    };
    let inherited = cut as u64;
    let header = SessionHeader {
        parent: Some(id),
        inherited,
        ..SessionHeader::new(created_at, snapshot.header.cwd.clone())
    };
    let writer = persistence.create(header.clone()).await?;
    let session = sessions.create(ctx, header, kept.to_vec())?;
    let recorder = Recorder::attach(&session, writer, options(persistence))?;
    if let Some(text) = summary {
        let message = Arc::new(Message::context("fork", ContextForm::Recall, text));
        session.append(Body::InboxSpliced(InboxSpliced {
            target: InboxTarget::NextStep,
            removed: Vec::new(),
            inserted: vec![message],
            canceled: false,
        }))?;
    }
    session.flush().await?;
    Ok(Recorded { session, recorder, repairs: Vec::new() })
}

/// The turn to keep last, and how many events lead to its end.
fn cut(id: SessionId, events: &[Arc<Event>], turn: Option<u32>) -> Result<(u32, usize), ForkError> {
    let ends = events.iter().zip(1..).filter_map(|(event, count)| match &event.body {
        Body::TurnEnd(end) => Some((end.turn, count)),
        _ => None,
    });
    let ends: Vec<(u32, usize)> = ends.collect();
    let last = ends.last().copied();
    let found = match turn {
        None => last,
        Some(turn) => ends.iter().copied().find(|(end, _)| *end == turn),
    };
    let last = last.map(|(turn, _)| turn);
    found.ok_or(ForkError::NoTurn { id, turn: turn.unwrap_or(1), last })
}
