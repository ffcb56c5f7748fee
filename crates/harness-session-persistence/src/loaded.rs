//! The checks that every backend makes on what it read, before it changes anything.
use std::sync::Arc;

use harness_session::{Body, Event, FORMAT_VERSION, Grammar, Seq, SessionHeader};

use crate::error::{PersistenceError, Position};
use crate::known::KnownTypes;
use crate::note::RepairNote;
use crate::repair::close_open_turn;

/// Checks a log as it was read, and says what must be appended to close an open turn.
///
/// `location` and `position` (of the event with an index) serve messages.
pub fn check_log(
    header: &SessionHeader,
    events: &[Arc<Event>],
    known: &KnownTypes,
    location: &str,
    position: impl Fn(usize) -> Position,
) -> Result<(Vec<Arc<Event>>, Option<RepairNote>), PersistenceError> {
    let (id, location) = (header.id, location.to_owned());
    if header.version > FORMAT_VERSION {
        return Err(PersistenceError::NewerFormat { id, location, found: header.version });
    }
    let corrupt = |index: usize, detail: String| PersistenceError::Corrupt {
        id,
        location: location.clone(),
        position: position(index),
        detail,
    };
    let mut grammar = Grammar::default();
    for (index, (expected, event)) in (0..).zip(events).enumerate() {
        if event.seq != expected {
            return Err(corrupt(
                index,
                format!("event {expected} is expected here, not event {}", event.seq),
            ));
        }
        if let Body::Plugin(data) = &event.body
            && data.required()
            && !known.contains(data.name())
        {
            let event_type = data.name().to_owned();
            return Err(PersistenceError::UnknownRequiredEvent { id, event_type, seq: event.seq });
        }
        grammar.accept(event).map_err(|error| corrupt(index, error.to_string()))?;
    }
    let open = grammar.open_turn();
    let closers = close_open_turn(id, events, open);
    let note = open.map(|open| RepairNote::ClosedTurn {
        turn: open.turn,
        from: closers.first().map_or(Seq::MAX, |event| event.seq),
        unanswered: open.calls.iter().filter(|call| !call.answered).count(),
    });
    Ok((closers, note))
}
