//! One client connection: requests in, bytes out.

use std::future::pending;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::body::ChunkedBody;
use super::head::{BodyLength, body_length, parse};
use super::request::Request;

/// How much and how long a refused client is listened to, so that it can read why.
const FAREWELL_BYTES: usize = 64 << 20;
const FAREWELL_TIME: Duration = Duration::from_secs(1);
const FAREWELL_READ: usize = 256 * 1024;

/// Room for a read whose length is not known.
const READ: usize = 16 * 1024;

/// What a request may measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) head: usize,
    pub(crate) body: usize,
}

/// Why no request could be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The request is answered with this status.
    Refused { status: u16, reason: String },
    /// The client is gone.
    Gone,
}

impl ReadError {
    pub(crate) fn refused(status: u16, reason: String) -> Self {
        Self::Refused { status, reason }
    }
}

impl From<io::Error> for ReadError {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

pub(crate) struct Connection {
    stream: TcpStream,
    /// Bytes that have arrived and belong to no request yet.
    buffer: BytesMut,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        // Small writes are the point of this server; without it they would be held back.
        let _ = stream.set_nodelay(true);
        Self { stream, buffer: BytesMut::new() }
    }

    /// The next request, or `None` if the client closed the connection after the one before.
    pub(crate) async fn read_request(&mut self, limits: Limits) -> Result<Option<Request>, ReadError> {
        let (mut request, length) = loop {
            if let Some(found) = parse(&self.buffer)? {
                break found;
            }
            if self.buffer.len() > limits.head {
                return Err(ReadError::refused(
                    431,
                    format!("the head is larger than {} bytes", limits.head),
                ));
            }
            if self.buffer.is_empty() {
                self.buffer.reserve(READ);
                if self.stream.read_buf(&mut self.buffer).await? == 0 {
                    return Ok(None);
                }
            } else {
                self.fill(READ).await?;
            }
        };
        let _head = self.buffer.split_to(length);
        let length = body_length(&request)?;
        if matches!(length, BodyLength::Known(length) if length > limits.body) {
            return Err(ReadError::refused(413, format!("the body is larger than {} bytes", limits.body)));
        }
        let has_body = length != BodyLength::Known(0);
        if has_body && request.is_http11 && request.header_lists("expect", "100-continue") {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        match length {
            BodyLength::Known(length) => {
                while self.buffer.len() < length {
                    self.fill(length - self.buffer.len()).await?;
                }
                request.body = self.buffer.split_to(length).freeze();
            }
            BodyLength::Chunked => {
                let mut body = ChunkedBody::default();
                while !body.decode(&mut self.buffer, limits.body)? {
                    self.fill(READ).await?;
                }
                request.body = body.decoded.freeze();
            }
        }
        Ok(Some(request))
    }

    /// Reads what there is, with room for `room` bytes or more.
    async fn fill(&mut self, room: usize) -> Result<(), ReadError> {
        self.buffer.reserve(room);
        if self.stream.read_buf(&mut self.buffer).await? == 0 { Err(ReadError::Gone) } else { Ok(()) }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Waits until the client closes the connection. Never ends if it sends something instead.
    pub(crate) async fn gone(&self) {
        if let Ok(1..) = self.stream.peek(&mut [0]).await {
            pending::<()>().await;
        }
    }

    /// Closes with a TCP reset.
    pub(crate) fn reset(self) {
        let _ = self.stream.set_zero_linger();
    }

    /// Closes in order.
    pub(crate) async fn close(mut self) {
        let _ = self.stream.shutdown().await;
    }

    /// Closes although the client may still be sending: until it stops or the patience ends, what
    /// it sends is thrown away, since closing right now would destroy the answer on its way.
    pub(crate) async fn close_against_the_stream(mut self) {
        let _ = self.stream.shutdown().await;
        let drain = async {
            let mut scratch = vec![0; FAREWELL_READ];
            let mut thrown_away = 0;
            while thrown_away < FAREWELL_BYTES {
                match self.stream.read(&mut scratch).await {
                    Ok(length @ 1..) => thrown_away += length,
                    Ok(0) | Err(_) => break,
                }
            }
        };
        let _ = tokio::time::timeout(FAREWELL_TIME, drain).await;
    }
}
