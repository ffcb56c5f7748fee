//! Reads a window of lines from a stream of bytes.

use std::io::{self, Read};

use super::collect::Collector;
use super::decode::probe;
use super::ending::BOM;
use super::{BINARY_PROBE_BYTES, NotText, TextSlice, TextWindow};

const CHUNK_BYTES: usize = 64 * 1024;

/// Why a stream could not be shown as text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The stream is not text.
    #[error("not text: {0}")]
    NotText(NotText),
    /// The stream could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads the lines of `window` and stops there: what follows the window is not read, nor checked for being text.
///
/// # Errors
/// [`ScanError`]; an interrupted read is repeated.
pub fn scan_text(reader: &mut dyn Read, window: TextWindow) -> Result<TextSlice, ScanError> {
    let mut collector = Collector::new(window);
    let mut buffer = vec![0; CHUNK_BYTES];
    // Bytes of a character that the last chunk cut in two.
    let mut carried = 0;
    let mut offset = 0;
    loop {
        let read = if offset == 0 {
            read_head(reader, &mut buffer)?
        } else {
            read_some(reader, &mut buffer[carried..])?
        };
        let filled = carried + read;
        let start = offset - carried as u64;
        if offset == 0 {
            probe(&buffer[..filled]).map_err(ScanError::NotText)?;
        }
        let valid = match std::str::from_utf8(&buffer[..filled]) {
            Ok(text) => text,
            Err(error) => {
                let valid_up_to = error.valid_up_to();
                if error.error_len().is_some() || read == 0 {
                    return Err(ScanError::NotText(NotText::InvalidUtf8 {
                        offset: start + valid_up_to as u64,
                    }));
                }
                // Never the default: the decoder has just vouched for this part.
                std::str::from_utf8(&buffer[..valid_up_to]).unwrap_or_default()
            }
        };
        let mut text = valid;
        if offset == 0
            && let Some(rest) = text.strip_prefix(BOM)
        {
            collector.mark_seen();
            text = rest;
        }
        if !collector.push(text) {
            return Ok(collector.finish(false));
        }
        if read == 0 {
            return Ok(collector.finish(true));
        }
        let consumed = valid.len();
        offset += read as u64;
        buffer.copy_within(consumed..filled, 0);
        carried = filled - consumed;
    }
}

/// Fills at least the part of the buffer that tells text from binary, however small the reads are.
fn read_head(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < BINARY_PROBE_BYTES {
        match read_some(reader, &mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn read_some(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
