//! Reads the lines of a log behind its header, plain and packed ones.
use harness_session::{Decoder, Event};
use serde::de::IgnoredAny;

use crate::expander::Expander;
use crate::packed_line;

/// Reads lines in order.
#[derive(Default)]
pub(crate) struct LineReader {
    decoder: Decoder,
    expander: Expander,
}

/// Why a line, or an event in it, cannot be read.
pub(crate) struct NotAnEvent {
    /// Whether it was written whole all the same.
    pub(crate) whole: bool,
    pub(crate) detail: String,
}

impl LineReader {
    /// Hands over the events of a line, up to the first that cannot be read.
    pub(crate) fn events(&mut self, line: &[u8], mut take: impl FnMut(Event)) -> Result<(), NotAnEvent> {
        let mut failure = None;
        self.each(line, |_, event| match event {
            Ok(event) if failure.is_none() => take(event),
            Ok(_) => {}
            Err(error) => failure = failure.take().or(Some(error)),
        });
        failure.map_or(Ok(()), Err)
    }
    /// Hands over each event of a line, or why it cannot be read, with its text.
    pub(crate) fn each(&mut self, line: &[u8], mut take: impl FnMut(&[u8], Result<Event, NotAnEvent>)) {
        let Some(mark) = packed_line::mark(line) else {
            return take(line, read_event(&mut self.decoder, line));
        };
        match self.expander.expand(mark, line) {
            Err(error) => take(line, Err(error)),
            Ok(text) => {
                for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    // Its checksum is right: it was written like this.
                    let event = read_event(&mut self.decoder, line);
                    take(line, event.map_err(|error| NotAnEvent { whole: true, ..error }));
                }
            }
        }
    }
}

fn read_event(decoder: &mut Decoder, text: &[u8]) -> Result<Event, NotAnEvent> {
    let text =
        std::str::from_utf8(text).map_err(|error| NotAnEvent { whole: false, detail: error.to_string() })?;
    decoder.decode(text).map_err(|error| NotAnEvent {
        whole: serde_json::from_str::<IgnoredAny>(text).is_ok(),
        detail: error.to_string(),
    })
}
