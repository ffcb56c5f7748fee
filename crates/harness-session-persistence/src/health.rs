//! What a check says of a stored session, and what a repair did to it.
use harness_session::{Body, Derivation, Event};
use std::sync::Arc;

use crate::error::{PersistenceError, Position};
use crate::note::RepairNote;
use crate::salvage::Loss;

/// Something for which a session cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Stable code, as of the error that opening gives.
    pub code: &'static str,
    /// Where it is; `None` if it concerns the session as a whole.
    pub position: Option<Position>,
    /// What is wrong.
    pub detail: String,
}
impl From<&PersistenceError> for Fault {
    fn from(error: &PersistenceError) -> Self {
        let (position, detail) = match error {
            PersistenceError::Corrupt { position, detail, .. } => (Some(*position), detail.clone()),
            PersistenceError::UnknownRequiredEvent { seq, .. } => {
                (Some(Position::Event(*seq)), error.to_string())
            }
            other => (None, other.to_string()),
        };
        Self { code: error.code(), position, detail }
    }
}

/// The state of a stored session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// For what it cannot be opened.
    pub faults: Vec<Fault>,
    /// What opening it mends.
    pub notes: Vec<RepairNote>,
    /// How many whole events are stored.
    pub events: usize,
    /// How many turns have ended.
    pub turns: usize,
}
impl Health {
    /// The state of a log that loads: its surface is all that is left to check.
    pub fn of(events: &[Arc<Event>], notes: Vec<RepairNote>) -> Self {
        let mut derivation = Derivation::default();
        let broken = events.iter().find_map(|event| Some((event.seq, derivation.accept(event).err()?)));
        let fault = broken.map(|(seq, error)| Fault {
            code: "SESSION_SURFACE",
            position: Some(Position::Event(seq)),
            detail: error.to_string(),
        });
        let turns = events.iter().filter(|event| matches!(event.body, Body::TurnEnd(_))).count();
        Self { faults: fault.into_iter().collect(), notes, events: events.len(), turns }
    }
}

/// What a repair did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// What is lost; nothing was changed if nothing is.
    pub losses: Vec<Loss>,
    /// How many events are kept.
    pub kept: usize,
    /// Where the original is now; `None` if nothing was changed.
    pub backup: Option<String>,
    /// Where the records are that were not kept.
    pub set_aside: Option<String>,
}
