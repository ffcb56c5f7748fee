//! What counts as text.

use std::fmt;

/// A NUL within this many bytes of the start marks a file as binary.
pub const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// Why some bytes are not text. Text is UTF-8 without a NUL in its first [`BINARY_PROBE_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotText {
    /// A NUL byte.
    Nul {
        /// Its distance from the start, in bytes.
        offset: u64,
    },
    /// Bytes that are not UTF-8.
    InvalidUtf8 {
        /// Where the first of them is, in bytes from the start.
        offset: u64,
    },
    /// A byte order mark of UTF-16 at the start.
    Utf16,
}

impl fmt::Display for NotText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nul { offset } => write!(formatter, "NUL byte at offset {offset}"),
            Self::InvalidUtf8 { offset } => write!(formatter, "invalid UTF-8 at byte offset {offset}"),
            Self::Utf16 => formatter.write_str("it is encoded as UTF-16; convert it to UTF-8 first"),
        }
    }
}

/// Looks for signs of a binary file in `head`, the first bytes of it.
pub(crate) fn probe(head: &[u8]) -> Result<(), NotText> {
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(NotText::Utf16);
    }
    match memchr::memchr(0, &head[..head.len().min(BINARY_PROBE_BYTES)]) {
        Some(offset) => Err(NotText::Nul { offset: offset as u64 }),
        None => Ok(()),
    }
}

/// Checks that a whole file is text.
///
/// # Errors
/// The first offence, with its offset.
pub fn decode_text(bytes: &[u8]) -> Result<&str, NotText> {
    probe(bytes)?;
    std::str::from_utf8(bytes).map_err(|error| NotText::InvalidUtf8 { offset: error.valid_up_to() as u64 })
}

#[cfg(test)]
mod tests {
    use super::{BINARY_PROBE_BYTES, NotText, decode_text};

    #[test]
    fn a_nul_counts_only_near_the_start() {
        let mut bytes = vec![b'a'; BINARY_PROBE_BYTES + 1];
        bytes[BINARY_PROBE_BYTES] = 0;
        assert!(decode_text(&bytes).is_ok());
        bytes[BINARY_PROBE_BYTES - 1] = 0;
        assert_eq!(decode_text(&bytes), Err(NotText::Nul { offset: BINARY_PROBE_BYTES as u64 - 1 }));
    }

    #[test]
    fn other_encodings_are_named() {
        assert_eq!(decode_text(b"caf\xe9!"), Err(NotText::InvalidUtf8 { offset: 3 }));
        assert_eq!(decode_text(b"\xff\xfea\0"), Err(NotText::Utf16));
        assert_eq!(decode_text("\u{feff}caf\u{e9}".as_bytes()), Ok("\u{feff}caf\u{e9}"));
    }
}
