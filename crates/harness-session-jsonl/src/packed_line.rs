//! A line that holds compressed event lines.
//!
//! `Z` starts a run of packed lines, `z` goes on with it; what follows is binary: a CRC-32 of the rest, how many bytes
//! of text the run has before this line (both 32 bits, little endian), and what zstd adds to the run's stream for it.
//! The line feed and the escape byte are escaped, so that the lines of a file are found as in plain text and damage
//! ends with its line.
const ESCAPE: u8 = 0x1b;
const FLIP: u8 = 0x40;

/// What a packed line starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Needs nothing before it.
    First,
    /// Needs the packed lines before it, back to the first.
    Next,
}
impl Mark {
    const fn byte(self) -> u8 {
        match self {
            Self::First => b'Z',
            Self::Next => b'z',
        }
    }
}

/// Tells packed lines from plain ones, which are JSON objects.
pub(crate) fn mark(line: &[u8]) -> Option<Mark> {
    let first = line.first()?;
    [Mark::First, Mark::Next].into_iter().find(|mark| mark.byte() == *first)
}

/// Writes a packed line with its line feed.
pub(crate) fn write(mark: Mark, before: usize, packed: &[u8], line: &mut Vec<u8>) {
    let before = wrapped(before).to_le_bytes();
    line.push(mark.byte());
    for byte in checksum(&before, packed).iter().chain(&before).chain(packed) {
        match *byte {
            byte @ (b'\n' | ESCAPE) => line.extend([ESCAPE, byte ^ FLIP]),
            byte => line.push(byte),
        }
    }
    line.push(b'\n');
}

/// What a whole line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Payload {
    /// See [`wrapped`].
    pub(crate) before: u32,
    pub(crate) packed: Vec<u8>,
}

/// What was written, or `None` when the line is not as it was written.
pub(crate) fn read(line: &[u8]) -> Option<Payload> {
    let mut bytes = line.get(1..)?.iter();
    let mut payload = Vec::with_capacity(line.len());
    while let Some(byte) = bytes.next() {
        payload.push(match *byte {
            ESCAPE => match bytes.next()? ^ FLIP {
                byte @ (b'\n' | ESCAPE) => byte,
                _ => return None,
            },
            byte => byte,
        });
    }
    let (sum, rest) = payload.split_first_chunk::<4>()?;
    let (before, packed) = rest.split_first_chunk::<4>()?;
    if checksum(before, packed) != *sum {
        return None;
    }
    let before = u32::from_le_bytes(*before);
    Some(Payload { before, packed: packed.to_vec() })
}

/// A length as far as a line has room for it.
#[expect(clippy::cast_possible_truncation, reason = "it tells lines apart, and a run is far shorter")]
pub(crate) fn wrapped(length: usize) -> u32 {
    length as u32
}

fn checksum(before: &[u8], packed: &[u8]) -> [u8; 4] {
    let mut sum = crc32fast::Hasher::new();
    sum.update(before);
    sum.update(packed);
    sum.finalize().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back_and_lines_stay_lines() {
        let all: Vec<u8> = (0..=255).chain([ESCAPE, b'\n', b'\n', ESCAPE]).collect();
        for mark in [Mark::First, Mark::Next] {
            let mut line = Vec::new();
            write(mark, 0x0a1b, &all, &mut line);
            assert_eq!(line.pop(), Some(b'\n'));
            assert!(!line.contains(&b'\n'));
            assert_eq!(super::mark(&line), Some(mark));
            assert_eq!(read(&line).unwrap(), Payload { before: 0x0a1b, packed: all.clone() });
            for at in 1..line.len() {
                assert_eq!(read(&line[..at]), None, "cut at {at}");
                let mut flipped = line.clone();
                flipped[at] ^= 1;
                assert_eq!(read(&flipped), None, "flipped at {at}");
            }
        }
        assert_eq!(mark(b"{\"type\":1}"), None);
        assert_eq!(mark(b""), None);
    }
}
