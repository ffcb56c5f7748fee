//! The line protocol over any pair of streams.
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;

use crate::listener::{Listener, Reply, refuse};

/// Most bytes of a request line; a longer one is refused and skipped.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Why serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The client said `bye`.
    Bye,
    /// There are no more requests; all were answered.
    EndOfInput,
    /// The caller gave up; hooks that ran were killed.
    Cancelled,
}

/// Serves the line protocol until `bye`, the end of the requests, or cancellation: one response line a request line,
/// in order. Blank lines have no response. A request that ends with the input, without a line break, counts.
///
/// Requests that end say nothing about who reads the responses: what was asked is still answered. Whoever can tell
/// that the client is gone cancels.
///
/// # Errors
/// If requests cannot be read or responses not be written, as when the client is gone.
pub async fn serve(
    listener: &mut Listener,
    requests: impl AsyncRead + Unpin,
    mut responses: impl AsyncWrite + Unpin,
    cancel: &CancellationToken,
) -> std::io::Result<Served> {
    let mut requests = BufReader::new(requests);
    loop {
        let line = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(Served::Cancelled),
            line = next(&mut requests) => line?,
        };
        let reply = match line {
            Line::End => return Ok(Served::EndOfInput),
            Line::TooLong => refuse(&format!("the line has more than {LONGEST_LINE} bytes")),
            Line::NoText => refuse("the line is not UTF-8 text"),
            // It kills what runs by itself when it is cancelled.
            Line::Text(text) => listener.answer(&text, cancel).await,
        };
        let (value, last) = match reply {
            Reply::Nothing => continue,
            Reply::Line(value) => (value, false),
            Reply::Bye(value) => (value, true),
        };
        let line = format!("{value}\n");
        let writing = async {
            responses.write_all(line.as_bytes()).await?;
            responses.flush().await
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(Served::Cancelled),
            written = writing => written?,
        }
        if last {
            return Ok(Served::Bye);
        }
    }
}

enum Line {
    Text(String),
    TooLong,
    NoText,
    End,
}

/// The next line. Of one that is too long no more is kept than one buffer.
async fn next(requests: &mut (impl AsyncBufRead + Unpin)) -> std::io::Result<Line> {
    let (mut bytes, mut long) = (Vec::new(), false);
    loop {
        let buffer = requests.fill_buf().await?;
        if buffer.is_empty() {
            if bytes.is_empty() && !long {
                return Ok(Line::End);
            }
            break;
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        long |= bytes.len() + piece.len() > LONGEST_LINE;
        if long {
            bytes = Vec::new();
        } else {
            bytes.extend_from_slice(piece);
        }
        let used = end.map_or(buffer.len(), |at| at + 1);
        requests.consume(used);
        if end.is_some() {
            break;
        }
    }
    if long {
        return Ok(Line::TooLong);
    }
    Ok(String::from_utf8(bytes).map_or(Line::NoText, Line::Text))
}
