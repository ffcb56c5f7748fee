//! Compresses event lines, a batch at a time.
use std::io;

use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer};

use crate::packed_line::{self, Mark};

/// Measured: higher levels save some hundredths more and cost several times the work.
const LEVEL: i32 = 3;
/// How far back a line can refer. With the tables below it takes about a megabyte of memory.
const WINDOW_LOG: u32 = 17;
const TABLE_LOG: u32 = 16;
/// After so much text a run of packed lines ends: as much as damage to one line can cost.
const RUN_BYTES: usize = 128 * 1024;
/// Most text in one packed line, unless a single event is longer.
pub(crate) const LINE_BYTES: usize = 64 * 1024;

/// Makes packed lines that refer to those before them, so that many small batches cost little more than a large one.
#[derive(Default)]
pub(crate) struct Compressor {
    run: Option<Run>,
}
struct Run {
    encoder: Encoder<'static>,
    /// Text so far.
    bytes: usize,
}

impl Compressor {
    /// Forgets the lines so far: they may not be in the file.
    pub(crate) fn reset(&mut self) {
        self.run = None;
    }

    /// Adds a packed line. Whoever has all lines up to it can read it: nothing is held back.
    pub(crate) fn pack(&mut self, text: &[u8], lines: &mut Vec<u8>) -> io::Result<()> {
        let (mut run, mark) = match self.run.take() {
            Some(run) if run.bytes < RUN_BYTES => (run, Mark::Next),
            _ => (Run { encoder: encoder()?, bytes: 0 }, Mark::First),
        };
        let mut packed = Vec::with_capacity(text.len() / 2 + 64);
        deflate(&mut run.encoder, text, &mut packed)?;
        packed_line::write(mark, run.bytes, &packed, lines);
        run.bytes += text.len();
        self.run = Some(run);
        Ok(())
    }
}

fn encoder() -> io::Result<Encoder<'static>> {
    let mut encoder = Encoder::new(LEVEL)?;
    for parameter in
        [CParameter::WindowLog(WINDOW_LOG), CParameter::HashLog(TABLE_LOG), CParameter::ChainLog(TABLE_LOG)]
    {
        encoder.set_parameter(parameter)?;
    }
    Ok(encoder)
}

fn deflate(encoder: &mut Encoder<'_>, text: &[u8], packed: &mut Vec<u8>) -> io::Result<()> {
    let mut input = InBuffer::around(text);
    loop {
        packed.reserve(zstd::zstd_safe::CCtx::out_size());
        let at = packed.len();
        let mut output = OutBuffer::around_pos(packed, at);
        if input.pos() < text.len() {
            encoder.run(&mut input, &mut output)?;
        } else if encoder.flush(&mut output)? == 0 {
            return Ok(());
        }
    }
}
