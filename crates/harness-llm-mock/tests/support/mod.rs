//! A server with a script, and two clients: a bare socket and a real HTTP stack.
#![allow(dead_code, reason = "each test file uses a part")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io;
use std::time::Duration;

use futures_util::StreamExt;
use harness_http::{HttpConfig, TransportError, TransportKind, client};
use harness_llm_mock::{MockServer, Options, Reply, Script};
use harness_sse::{SseError, SseItem, SseStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) const BODY: &str = r#"{"stream":true,"messages":[{"role":"user","content":"go"}]}"#;

pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> MockServer {
    MockServer::start(Script::new(replies), Options::default()).await.unwrap()
}

/// Fails instead of hanging when something never happens.
pub(crate) async fn soon<F: Future>(event: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(30), event).await.unwrap()
}

/// Sends raw bytes and reads until the server closes or breaks the connection.
pub(crate) async fn exchange(server: &MockServer, request: &str) -> (String, io::Result<()>) {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let outcome = soon(stream.read_to_end(&mut answer)).await;
    (String::from_utf8_lossy(&answer).into_owned(), outcome.map(|_| ()))
}

/// A chat request as raw bytes, with extra head lines.
pub(crate) fn chat(head_lines: &str) -> String {
    post(head_lines, BODY)
}

/// A request to the chat endpoint with this body.
pub(crate) fn post(head_lines: &str, body: &str) -> String {
    format!("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {}\r\n{head_lines}\r\n{body}", body.len())
}

/// A chat request after which the client wants the connection closed.
pub(crate) fn last_chat() -> String {
    chat("connection: close\r\n")
}

/// How a stream looked to a client that knows HTTP and server-sent events.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A complete body; the data of its events.
    Complete(Vec<String>),
    /// A body that broke after this many events, inside one or not.
    Broken { events: usize, inside: bool, kind: TransportKind },
    /// No response at all.
    Nothing(TransportKind),
}

pub(crate) async fn send(server: &MockServer) -> reqwest::Result<reqwest::Response> {
    let url = format!("{}/v1/chat/completions", server.base_url());
    client(&HttpConfig::default()).unwrap().post(url).body(BODY).send().await
}

/// Streams one reply.
pub(crate) async fn stream(server: &MockServer) -> Seen {
    let response = match send(server).await {
        Ok(response) => response,
        Err(error) => return Seen::Nothing(TransportError::from(error).kind),
    };
    let mut events = SseStream::new(response.bytes_stream());
    let mut data = Vec::new();
    while let Some(item) = soon(events.next()).await {
        match item {
            Ok(SseItem::Event(event)) => data.push(event.data),
            Ok(SseItem::Comment(_)) => {}
            Err(SseError::Transport { source, pending }) => {
                let kind = TransportError::from(source).kind;
                return Seen::Broken { events: data.len(), inside: pending > 0, kind };
            }
            Err(other) => panic!("unexpected fault: {other}"),
        }
    }
    Seen::Complete(data)
}
