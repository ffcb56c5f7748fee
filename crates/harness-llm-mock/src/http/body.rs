//! Decodes chunked request bodies.

use bytes::{Buf, BytesMut};

use super::connection::ReadError;

/// Longest line of a chunked body: a size with extensions, or a trailer.
const MAX_LINE: usize = 8 * 1024;

/// A decoder that takes whole elements from the front of a buffer.
#[derive(Debug, Default)]
pub(crate) struct ChunkedBody {
    pub(crate) decoded: BytesMut,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Size,
    /// Bytes of data left, then a line end.
    Data(usize),
    Trailers,
}

impl ChunkedBody {
    /// Takes what it can; true once the body is complete. More bytes are needed otherwise.
    pub(crate) fn decode(&mut self, buffer: &mut BytesMut, limit: usize) -> Result<bool, ReadError> {
        loop {
            match self.state {
                State::Size => {
                    let Some(line) = take_line(buffer)? else { return Ok(false) };
                    let size = chunk_size(&line)?;
                    if size > limit.saturating_sub(self.decoded.len()) {
                        return Err(ReadError::refused(
                            413,
                            format!("the body is larger than {limit} bytes"),
                        ));
                    }
                    self.state = if size == 0 { State::Trailers } else { State::Data(size) };
                }
                State::Data(left) if left > 0 => {
                    let part = buffer.split_to(left.min(buffer.len()));
                    if part.is_empty() {
                        return Ok(false);
                    }
                    self.state = State::Data(left - part.len());
                    self.decoded.extend_from_slice(&part);
                }
                State::Data(_) => {
                    let Some(line) = take_line(buffer)? else { return Ok(false) };
                    if !line.is_empty() {
                        return Err(ReadError::refused(400, "a chunk is longer than its size".to_owned()));
                    }
                    self.state = State::Size;
                }
                State::Trailers => {
                    let Some(line) = take_line(buffer)? else { return Ok(false) };
                    if line.is_empty() {
                        return Ok(true);
                    }
                }
            }
        }
    }
}

/// The next line without its end.
fn take_line(buffer: &mut BytesMut) -> Result<Option<BytesMut>, ReadError> {
    match buffer.iter().take(MAX_LINE).position(|byte| *byte == b'\n') {
        Some(at) => {
            let mut line = buffer.split_to(at);
            buffer.advance(1);
            if line.last() == Some(&b'\r') {
                line.truncate(at - 1);
            }
            Ok(Some(line))
        }
        None if buffer.len() >= MAX_LINE => Err(ReadError::refused(
            400,
            format!("a line of the chunked body is longer than {MAX_LINE} bytes"),
        )),
        None => Ok(None),
    }
}

fn chunk_size(line: &[u8]) -> Result<usize, ReadError> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let is_hex = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_hex);
    text.and_then(|text| usize::from_str_radix(text, 16).ok())
        .ok_or_else(|| ReadError::refused(400, "a chunk size is not a hexadecimal number".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body and the bytes after it, for `input` arriving in pieces of `size` bytes.
    fn decode(input: &[u8], size: usize) -> Result<(Vec<u8>, Vec<u8>), u16> {
        let mut body = ChunkedBody::default();
        let mut buffer = BytesMut::new();
        let mut pieces = input.chunks(size);
        loop {
            match body.decode(&mut buffer, 20) {
                Ok(true) => {
                    let after = [&buffer, pieces.flatten().copied().collect::<Vec<_>>().as_slice()].concat();
                    return Ok((body.decoded.to_vec(), after));
                }
                Ok(false) => buffer.extend_from_slice(pieces.next().expect("the body is complete")),
                Err(ReadError::Refused { status, .. }) => return Err(status),
                Err(ReadError::Gone) => unreachable!("no socket is involved"),
            }
        }
    }

    #[test]
    fn chunks_are_joined_in_any_pieces() {
        let input = b"5;name=x\r\nhello\r\nC\r\n, wonderful!\r\n0\r\nTrailer: y\r\n\r\nNEXT";
        for size in 1..=input.len() {
            let expected = (b"hello, wonderful!".to_vec(), b"NEXT".to_vec());
            assert_eq!(decode(input, size), Ok(expected), "pieces of {size}");
        }
    }

    #[test]
    fn bad_chunks_are_refused() {
        for (input, status) in [
            (&b"x\r\n"[..], 400),
            (b"\r\n", 400),
            (b"+5\r\nhello\r\n", 400),
            (b"2\r\nhello\r\n", 400),
            (b"15\r\n", 413),
            (b"ffffffffffffffffff\r\n", 400),
            (&[b'1'; MAX_LINE], 400),
        ] {
            assert_eq!(decode(input, 3), Err(status), "{input:?}");
        }
    }
}
