//! A model server that costs as little as it can and notes when each request came.
//!
//! It is not `harness-llm-mock`: that one keeps and compares what it receives, which would be measured along.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::script::Script;

/// A body is sent in pieces of this size, as many events of a busy server arrive together.
const PIECE: usize = 16 * 1024;

/// A server on the loopback interface. It serves until the process ends.
pub(crate) struct Server {
    /// Base URL.
    pub(crate) url: String,
    shared: Arc<Shared>,
}

struct Shared {
    script: Script,
    arrivals: Mutex<Vec<Instant>>,
}

impl Server {
    /// Starts one for a single run.
    pub(crate) fn start(script: Script) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port to listen on")?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let shared = Arc::new(Shared { script, arrivals: Mutex::default() });
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                // A connection ends with an error when the client closes it; there is nobody to tell.
                thread::spawn(move || serve(stream, &state));
            }
        });
        Ok(Self { url, shared })
    }
    /// When each request had arrived in full.
    pub(crate) fn arrivals(&self) -> Vec<Instant> {
        self.shared.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: TcpStream, state: &Shared) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(64 * 1024, stream.try_clone()?);
    let mut writer = stream;
    let mut body = Vec::new();
    while let Some(length) = head(&mut reader)? {
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
        let request = {
            let mut arrivals = state.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
            arrivals.push(Instant::now());
            arrivals.len() - 1
        };
        writer.write_all(&response(&state.script.answer(request)))?;
    }
    Ok(())
}

/// Reads a head; the length of the body, or `None` at the end of the connection.
fn head(reader: &mut impl BufRead) -> Result<Option<usize>> {
    let (mut line, mut length, mut first) = (String::new(), None, true);
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            if first {
                return Ok(None);
            }
            bail!("the connection ended within a head");
        }
        if std::mem::take(&mut first) && !line.contains("/chat/completions") {
            bail!("an unexpected request: {line}");
        }
        if line.trim_end().is_empty() {
            return Ok(Some(length.context("a request without a length")?));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse()?);
        }
    }
}

fn response(stream: &str) -> Vec<u8> {
    let mut bytes =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for piece in stream.as_bytes().chunks(PIECE) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_answered_in_the_order_of_the_script() {
        let server = Server::start(Script::Steps(1)).unwrap();
        let address = server.url.trim_start_matches("http://").trim_end_matches("/v1");
        let mut stream = TcpStream::connect(address).unwrap();
        for expected in ["call_0", "the "] {
            stream.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}").unwrap();
            let mut answer = String::new();
            let mut reader = BufReader::new(&stream);
            while !answer.ends_with("\r\n0\r\n\r\n") {
                assert_ne!(reader.read_line(&mut answer).unwrap(), 0, "{answer}");
            }
            assert!(answer.contains(expected), "{answer}");
        }
        assert_eq!(server.arrivals().len(), 2);
    }
}
