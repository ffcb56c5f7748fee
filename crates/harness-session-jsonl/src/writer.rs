//! The writer: file work on tokio's blocking threads, one piece at a time.
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use harness_session::{Event, Form, Seq, SessionHeader, encode_event, encode_header};
use harness_session_persistence::{Durability, PersistenceError, SessionWriter};

use crate::backend::blocking;
use crate::layout::Layout;
use crate::log_file::LogFile;
use crate::publish::publish;

enum State {
    /// Nothing is stored yet.
    New(Layout, SessionHeader),
    Open(LogFile),
}

/// The state is shared with the work in flight, so that a dropped future leaves the two in step.
pub(crate) struct JsonlWriter(Arc<Mutex<State>>);

impl JsonlWriter {
    pub(crate) fn new(layout: Layout, header: SessionHeader) -> Self {
        Self(Arc::new(Mutex::new(State::New(layout, header))))
    }
    pub(crate) fn open(log: LogFile) -> Self {
        Self(Arc::new(Mutex::new(State::Open(log))))
    }
}

#[async_trait]
impl SessionWriter for JsonlWriter {
    fn next_seq(&self) -> Seq {
        lock(&self.0).next_seq()
    }
    async fn append(
        &mut self,
        events: &[Arc<Event>],
        durability: Durability,
    ) -> Result<(), PersistenceError> {
        let (state, events) = (Arc::clone(&self.0), events.to_vec());
        blocking(move || lock(&state).append(&events, durability)).await
    }
    async fn close(self: Box<Self>) -> Result<(), PersistenceError> {
        blocking(move || {
            drop(self);
            Ok(())
        })
        .await
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn next_seq(&self) -> Seq {
        match self {
            Self::New(..) => 0,
            Self::Open(log) => log.next_seq(),
        }
    }
    fn append(&mut self, events: &[Arc<Event>], durability: Durability) -> Result<(), PersistenceError> {
        let lines = encode(self.next_seq(), events)?;
        let count = events.len() as Seq;
        let log = match self {
            Self::New(..) if events.is_empty() => return Ok(()),
            Self::New(layout, header) => {
                let header_line =
                    encode_header(header).map_err(|source| PersistenceError::Encode { seq: 0, source })?;
                let log = publish(layout, header.id, &format!("{header_line}\n"), &lines, count)?;
                *self = Self::Open(log);
                return self.append(&[], durability);
            }
            Self::Open(log) => log,
        };
        if !events.is_empty() {
            log.append(lines.as_bytes(), count)?;
        }
        if durability >= Durability::Sync { log.sync() } else { Ok(()) }
    }
}

/// The batch as lines, if it follows what is stored.
pub(crate) fn encode(next: Seq, events: &[Arc<Event>]) -> Result<String, PersistenceError> {
    let mut lines = String::new();
    for (expected, event) in (next..).zip(events) {
        if event.seq != expected {
            return Err(PersistenceError::Sequence { expected, got: event.seq });
        }
        let line = encode_event(event, Form::Stored);
        let line = line.map_err(|source| PersistenceError::Encode { seq: event.seq, source })?;
        writeln!(lines, "{line}").ok(); // writing to a string cannot fail
    }
    Ok(lines)
}
