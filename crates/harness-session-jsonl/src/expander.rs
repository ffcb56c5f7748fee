//! Reads packed lines in order.
use std::io;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use crate::line_reader::NotAnEvent;
use crate::packed_line::{self, Mark, Payload};

/// Most text that one line may stand for. Far beyond any event; a damaged line must not fill the memory.
const MOST: usize = 1 << 30;

/// Remembers the run of packed lines at hand.
#[derive(Default)]
pub(crate) struct Expander {
    run: Option<Run>,
    text: Vec<u8>,
}
struct Run {
    decoder: Decoder<'static>,
    /// Text so far.
    bytes: usize,
}

impl Expander {
    /// The event lines in a packed line. After a line that cannot be read, those that go on with its run cannot be
    /// read either.
    pub(crate) fn expand(&mut self, mark: Mark, line: &[u8]) -> Result<&[u8], NotAnEvent> {
        let before = self.run.take();
        let Some(Payload { before: bytes, packed }) = packed_line::read(line) else {
            let detail = "the compressed line is cut off or damaged".to_owned();
            return Err(NotAnEvent { whole: false, detail });
        };
        let whole = |detail: String| NotAnEvent { whole: true, detail };
        let mut run = match (mark, before) {
            (Mark::First, _) => {
                let decoder = Decoder::new();
                let decoder = decoder.map_err(|error| whole(format!("cannot expand it: {error}")))?;
                Run { decoder, bytes: 0 }
            }
            (Mark::Next, Some(run)) if packed_line::wrapped(run.bytes) == bytes => run,
            (Mark::Next, _) => {
                return Err(whole("the compressed line before it is missing or damaged".to_owned()));
            }
        };
        self.text.clear();
        let inflated = inflate(&mut run.decoder, &packed, &mut self.text);
        inflated.map_err(|error| whole(format!("the compressed line does not expand: {error}")))?;
        run.bytes += self.text.len();
        self.run = Some(run);
        Ok(&self.text)
    }
}

fn inflate(decoder: &mut Decoder<'_>, packed: &[u8], text: &mut Vec<u8>) -> io::Result<()> {
    let mut input = InBuffer::around(packed);
    loop {
        text.reserve(zstd::zstd_safe::DCtx::out_size());
        let (before, at) = (input.pos(), text.len());
        let room = text.capacity();
        let mut output = OutBuffer::around_pos(text, at);
        decoder.run(&mut input, &mut output)?;
        let full = text.len() == room;
        if input.pos() == packed.len() && !full {
            return Ok(());
        }
        if (before, at) == (input.pos(), text.len()) || text.len() > MOST {
            return Err(io::Error::other("it does not end"));
        }
    }
}
