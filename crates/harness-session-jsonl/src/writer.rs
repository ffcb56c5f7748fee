//! The writer: file work on tokio's blocking threads, one piece at a time.
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use harness_session::{Event, Form, Seq, SessionHeader, encode_event, encode_header};
use harness_session_persistence::{Durability, PersistenceError, SessionWriter};

use crate::backend::blocking;
use crate::batch::Packer;
use crate::config::Compression;
use crate::layout::Layout;
use crate::log_file::LogFile;
use crate::publish::publish;

struct State {
    place: Place,
    packer: Packer,
}
enum Place {
    /// Nothing is stored yet.
    New(Layout, SessionHeader),
    Open(LogFile),
}

/// The state is shared with the work in flight, so that a dropped future leaves the two in step.
pub(crate) struct JsonlWriter(Arc<Mutex<State>>);

impl JsonlWriter {
    pub(crate) fn new(layout: Layout, header: SessionHeader) -> Self {
        let packer = Packer::new(layout.compression);
        Self(Arc::new(Mutex::new(State { place: Place::New(layout, header), packer })))
    }
    pub(crate) fn open(log: LogFile, compression: Compression) -> Self {
        Self(Arc::new(Mutex::new(State { place: Place::Open(log), packer: Packer::new(compression) })))
    }
}

#[async_trait]
impl SessionWriter for JsonlWriter {
    fn next_seq(&self) -> Seq {
        lock(&self.0).place.next_seq()
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
    fn append(&mut self, events: &[Arc<Event>], durability: Durability) -> Result<(), PersistenceError> {
        let written = self.write(events, durability);
        if written.is_err() {
            // What was packed may not be there: nothing may refer to it.
            self.packer.reset();
        }
        written
    }
    fn write(&mut self, events: &[Arc<Event>], durability: Durability) -> Result<(), PersistenceError> {
        let lines = self.packer.lines(self.place.next_seq(), events)?;
        let count = events.len() as Seq;
        let log = match &mut self.place {
            Place::New(..) if events.is_empty() => return Ok(()),
            Place::New(layout, header) => {
                let header_line =
                    encode_header(header).map_err(|source| PersistenceError::Encode { seq: 0, source })?;
                let log = publish(layout, header.id, &format!("{header_line}\n"), &lines, count)?;
                self.place = Place::Open(log);
                return self.write(&[], durability);
            }
            Place::Open(log) => log,
        };
        if !events.is_empty() {
            log.append(&lines, count)?;
        }
        if durability >= Durability::Sync { log.sync() } else { Ok(()) }
    }
}
impl Place {
    fn next_seq(&self) -> Seq {
        match self {
            Self::New(..) => 0,
            Self::Open(log) => log.next_seq(),
        }
    }
}

/// The batch as plain lines, if it follows what is stored.
pub(crate) fn encode(next: Seq, events: &[Arc<Event>]) -> Result<String, PersistenceError> {
    let mut lines = String::new();
    for (expected, event) in (next..).zip(events) {
        let line = encode_next(expected, event)?;
        writeln!(lines, "{line}").ok(); // writing to a string cannot fail
    }
    Ok(lines)
}

/// One event as a plain line, if it is the one that comes next.
pub(crate) fn encode_next(expected: Seq, event: &Event) -> Result<String, PersistenceError> {
    if event.seq != expected {
        return Err(PersistenceError::Sequence { expected, got: event.seq });
    }
    encode_event(event, Form::Stored).map_err(|source| PersistenceError::Encode { seq: event.seq, source })
}
