//! A live session and its storage in one step.
use std::sync::Arc;

use harness_kernel::Ctx;
use harness_session::{Session, SessionHeader, SessionId, Sessions, SessionsError};

use crate::error::PersistenceError;
use crate::known::KnownTypes;
use crate::note::RepairNote;
use crate::recorder::{Recorder, RecorderOptions};
use crate::service::SessionPersistence;

/// A live session that is recorded.
#[derive(Clone)]
pub struct Recorded {
    /// The session.
    pub session: Arc<Session>,
    /// Its recorder; it ends with the session's context.
    pub recorder: Recorder,
    /// What was mended when it was opened.
    pub repairs: Vec<RepairNote>,
}

/// Why a recorded session did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordedError {
    /// Storage refused.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
    /// The log does not fit together.
    #[error(transparent)]
    Session(#[from] SessionsError),
}
impl RecordedError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Persistence(error) => error.code(),
            Self::Session(_) => "SESSION_REFUSED",
        }
    }
}

/// Makes a new session live in `ctx` and records it.
pub async fn start_recorded(
    ctx: &Ctx,
    sessions: &Sessions,
    persistence: &dyn SessionPersistence,
    header: SessionHeader,
) -> Result<Recorded, RecordedError> {
    let writer = persistence.create(header.clone()).await?;
    let session = sessions.create(ctx, header, Vec::new())?;
    let recorder = Recorder::attach(&session, writer, options(persistence))?;
    Ok(Recorded { session, recorder, repairs: Vec::new() })
}

/// Makes a stored session live in `ctx` and goes on recording it.
pub async fn resume_recorded(
    ctx: &Ctx,
    sessions: &Sessions,
    persistence: &dyn SessionPersistence,
    id: SessionId,
) -> Result<Recorded, RecordedError> {
    let opened = persistence.open(id, &KnownTypes::from(sessions)).await?;
    let session = sessions.create(ctx, opened.header, opened.events)?;
    let recorder = Recorder::attach(&session, opened.writer, options(persistence))?;
    Ok(Recorded { session, recorder, repairs: opened.repairs })
}

pub(crate) fn options(persistence: &dyn SessionPersistence) -> RecorderOptions {
    RecorderOptions { durability: persistence.durability(), ..RecorderOptions::default() }
}
