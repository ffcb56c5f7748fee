//! A batch of events as lines, plain or packed.
use std::sync::Arc;

use harness_session::{Body, Event, Seq};
use harness_session_persistence::PersistenceError;

use crate::compressor::{Compressor, LINE_BYTES};
use crate::config::Compression;
use crate::writer::{encode, encode_next};

/// Makes the lines of one writer.
pub(crate) struct Packer {
    compressor: Option<Compressor>,
    /// Events of the last batch that are to be packed together.
    text: Vec<u8>,
    in_turn: bool,
}

impl Packer {
    pub(crate) fn new(compression: Compression) -> Self {
        let compressor = match compression {
            Compression::None => None,
            Compression::Zstd => Some(Compressor::default()),
        };
        Self { compressor, text: Vec::new(), in_turn: false }
    }
    /// Forgets the batches so far: they may not be in the file.
    pub(crate) fn reset(&mut self) {
        if let Some(compressor) = &mut self.compressor {
            compressor.reset();
        }
        self.text.clear();
    }

    /// The lines of a batch, if it follows what is stored. What is between turns and ends them stays plain: a list
    /// reads only the start and the end of a log.
    pub(crate) fn lines(&mut self, next: Seq, events: &[Arc<Event>]) -> Result<Vec<u8>, PersistenceError> {
        if self.compressor.is_none() {
            return Ok(encode(next, events)?.into_bytes());
        }
        let mut lines = Vec::new();
        for (expected, event) in (next..).zip(events) {
            match event.body {
                Body::TurnStart(_) => self.in_turn = true,
                Body::TurnEnd(_) => self.in_turn = false,
                _ => {}
            }
            let line = encode_next(expected, event)?;
            if !self.in_turn || self.text.len() + line.len() > LINE_BYTES {
                self.pack(&mut lines)?;
            }
            let to = if self.in_turn { &mut self.text } else { &mut lines };
            to.extend_from_slice(line.as_bytes());
            to.push(b'\n');
        }
        self.pack(&mut lines)?;
        Ok(lines)
    }

    fn pack(&mut self, lines: &mut Vec<u8>) -> Result<(), PersistenceError> {
        if let (Some(compressor), false) = (&mut self.compressor, self.text.is_empty()) {
            compressor.pack(&self.text, lines).map_err(|error| PersistenceError::Backend(Box::new(error)))?;
            self.text.clear();
        }
        Ok(())
    }
}
