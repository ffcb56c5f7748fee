//! Writes response heads and frames bodies.

use std::io::Write;

/// How the end of a body is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `transfer-encoding: chunked`.
    Chunked,
    /// By closing the connection, for HTTP/1.0.
    UntilClose,
    /// `content-length`.
    Length(usize),
}

/// Appends a response head.
pub(crate) fn head(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(String, String)],
    framing: Framing,
    keep_alive: bool,
) {
    line(out, &format!("HTTP/1.1 {status} {}", reason(status)));
    for (name, value) in headers {
        line(out, &format!("{name}: {value}"));
    }
    match framing {
        Framing::Chunked => line(out, "transfer-encoding: chunked"),
        Framing::Length(length) => line(out, &format!("content-length: {length}")),
        Framing::UntilClose => {}
    }
    if !keep_alive {
        line(out, "connection: close");
    }
    line(out, "");
}

/// Appends one part of a body.
pub(crate) fn chunk(out: &mut Vec<u8>, framing: Framing, bytes: &[u8]) {
    if bytes.is_empty() {
        return; // an empty chunk would end the body
    }
    if framing == Framing::Chunked {
        line(out, &format!("{:x}", bytes.len()));
        out.extend_from_slice(bytes);
        line(out, "");
    } else {
        out.extend_from_slice(bytes);
    }
}

/// Appends the mark that a body is complete.
pub(crate) fn end_of_chunks(out: &mut Vec<u8>, framing: Framing) {
    if framing == Framing::Chunked {
        out.extend_from_slice(b"0\r\n\r\n");
    }
}

/// A whole response with a JSON body.
pub(crate) fn whole(status: u16, body: &str, keep_alive: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 128);
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    head(&mut out, status, &headers, Framing::Length(body.len()), keep_alive);
    out.extend_from_slice(body.as_bytes());
    out
}

fn line(out: &mut Vec<u8>, text: &str) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{text}\r\n");
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
