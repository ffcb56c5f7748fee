//! Incremental UTF-8 checking over chunks that may split a character.

use bytes::Bytes;

/// Longest UTF-8 encoding of one character, in bytes.
const LONGEST: usize = 4;

/// Tells valid text from invalid bytes as early as any decoder can, without copying the text.
///
/// The start of a character at the end of a chunk is kept back until the chunk that completes it.
#[derive(Debug, Default)]
pub(crate) struct TextGate {
    carry: [u8; LONGEST],
    carried: usize,
    /// Bytes that have been let through.
    passed: u64,
}

/// The part of a chunk that may be used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    /// A character that began in an earlier chunk and is complete now; often empty.
    pub(crate) joined: Bytes,
    /// The valid text of this chunk.
    pub(crate) text: Bytes,
    /// Offset from the start of the stream of the byte that makes the rest invalid.
    pub(crate) invalid_at: Option<u64>,
}

impl TextGate {
    pub(crate) fn check(&mut self, mut chunk: Bytes) -> Checked {
        let mut checked = Checked::default();
        if self.carried > 0 && !self.complete_carry(&mut chunk, &mut checked) {
            return checked;
        }
        match std::str::from_utf8(&chunk) {
            Ok(_) => checked.text = chunk,
            Err(fault) => {
                let rest = chunk.split_off(fault.valid_up_to());
                checked.text = chunk;
                if fault.error_len().is_some() {
                    let before = checked.joined.len() + checked.text.len();
                    checked.invalid_at = Some(self.passed + before as u64);
                } else {
                    self.carry[..rest.len()].copy_from_slice(&rest);
                    self.carried = rest.len();
                }
            }
        }
        self.passed += (checked.joined.len() + checked.text.len()) as u64;
        checked
    }

    /// Takes bytes from the front of `chunk` until the carried character is complete. False if
    /// the chunk ran out or the character turned out to be invalid.
    fn complete_carry(&mut self, chunk: &mut Bytes, checked: &mut Checked) -> bool {
        while !chunk.is_empty() {
            self.carry[self.carried] = chunk.split_to(1)[0];
            self.carried += 1;
            match std::str::from_utf8(&self.carry[..self.carried]) {
                Ok(_) => {
                    checked.joined = Bytes::copy_from_slice(&self.carry[..self.carried]);
                    self.carried = 0;
                    return true;
                }
                Err(fault) if fault.error_len().is_some() => {
                    checked.invalid_at = Some(self.passed);
                    return false;
                }
                Err(_) => {}
            }
        }
        false
    }

    /// True if the input so far ends inside a character.
    pub(crate) fn is_inside_character(&self) -> bool {
        self.carried > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text let through and the invalid offset, for `input` fed in chunks of `size` bytes.
    fn fed(input: &[u8], size: usize) -> (Vec<u8>, Option<u64>) {
        let mut gate = TextGate::default();
        let mut text = Vec::new();
        for chunk in input.chunks(size) {
            let checked = gate.check(Bytes::copy_from_slice(chunk));
            text.extend_from_slice(&checked.joined);
            text.extend_from_slice(&checked.text);
            if checked.invalid_at.is_some() {
                return (text, checked.invalid_at);
            }
        }
        (text, None)
    }

    #[test]
    fn split_characters_are_joined() {
        let input = "aé€😀z".as_bytes();
        for size in 1..=input.len() {
            assert_eq!(fed(input, size), (input.to_vec(), None), "chunks of {size}");
        }
    }

    #[test]
    fn the_offset_of_an_invalid_byte_does_not_depend_on_the_chunks() {
        // A truncated three-byte character, a lone continuation byte, an encoded surrogate.
        for input in [&b"ab\xe2\x82cd"[..], b"ab\x80", b"ab\xed\xa0\x80"] {
            for size in 1..=input.len() {
                assert_eq!(fed(input, size), (b"ab".to_vec(), Some(2)), "{input:?} in chunks of {size}");
            }
        }
    }

    #[test]
    fn an_unfinished_character_is_kept_back() {
        let mut gate = TextGate::default();
        let checked = gate.check(Bytes::from_static(b"a\xf0\x9f"));
        assert_eq!(checked, Checked { text: Bytes::from_static(b"a"), ..Checked::default() });
        assert!(gate.is_inside_character());
    }
}
