//! HTTP itself, seen through a bare socket.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use harness_llm_mock::{MockServer, Options, Reply, Script, txt};
use support::{BODY, chat, exchange, last_chat, post, soon, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The status line of the answer to raw bytes, and the rest.
async fn status(server: &MockServer, request: &str) -> (String, String) {
    let (answer, outcome) = exchange(server, request).await;
    outcome.unwrap();
    let (line, rest) = answer.split_once("\r\n").unwrap_or((&answer, ""));
    (line.to_owned(), rest.to_owned())
}

#[tokio::test]
async fn one_connection_serves_several_requests() {
    let server = start([txt("a"), Reply::error(429, "wait"), txt("b")]).await;
    let (answer, outcome) = exchange(&server, &(chat("") + &chat("") + &last_chat())).await;
    outcome.unwrap();
    assert_eq!(answer.matches("HTTP/1.1 200 OK\r\n").count(), 2, "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 429 Too Many Requests\r\n").count(), 1, "{answer}");
    assert_eq!(answer.matches("connection: close\r\n").count(), 1, "{answer}");
}

#[tokio::test]
async fn a_body_can_be_chunked_and_announced() {
    let server = start([txt("a"), txt("b")]).await;
    let (half, rest) = BODY.split_at(20);
    let request = format!(
        "POST /chat/completions HTTP/1.1\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
         14\r\n{half}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
        rest.len()
    );
    assert_eq!(status(&server, &request).await.0, "HTTP/1.1 200 OK");
    assert_eq!(server.requests()[0].body(), BODY.as_bytes());

    let (head, body) = last_chat().split_once("\r\n\r\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(format!("{head}\r\nExpect: 100-continue\r\n\r\n").as_bytes()).await.unwrap();
    let mut go_ahead = [0; 25];
    soon(stream.read_exact(&mut go_ahead)).await.unwrap();
    assert_eq!(&go_ahead, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[tokio::test]
async fn an_old_client_gets_a_body_without_chunks() {
    let server = start([txt("a")]).await;
    let (line, rest) = status(&server, &last_chat().replace("HTTP/1.1", "HTTP/1.0")).await;
    assert_eq!(line, "HTTP/1.1 200 OK");
    let (head, body) = rest.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("transfer-encoding") && body.starts_with("data: "), "{rest}");
    assert!(body.ends_with("data: [DONE]\n\n"), "{rest}");
}

#[tokio::test]
async fn the_models_are_listed_and_other_places_are_named() {
    let server = start([]).await;
    for (request, expected, part) in [
        ("GET /v1/models", "HTTP/1.1 200 OK", "\"id\":\"mock-model\""),
        ("GET /v1/chat/completions", "HTTP/1.1 405 Method Not Allowed", "GET"),
        ("POST /v1/completions?x=1", "HTTP/1.1 404 Not Found", "/v1/completions"),
    ] {
        let (line, rest) = status(&server, &format!("{request} HTTP/1.1\r\nconnection: close\r\n\r\n")).await;
        assert_eq!(line, expected);
        assert!(rest.contains(part), "{rest}");
    }
    assert!(server.requests().is_empty());
    assert_eq!(server.other_requests()[2].path(), "/v1/completions?x=1");
}

#[tokio::test]
async fn a_request_without_a_stream_gets_the_text_as_one_object() {
    let server = start([txt("a").pieces(["b"]), txt("c"), Reply::error(429, "slow down")]).await;
    for (absent, content) in [("\"stream\":null", "ab"), ("\"xtream\":true", "c")] {
        let request = post("connection: close\r\n", &BODY.replace("\"stream\":true", absent));
        let (line, rest) = status(&server, &request).await;
        assert_eq!(line, "HTTP/1.1 200 OK", "{absent}");
        let body = rest.split("\r\n\r\n").last().unwrap();
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["choices"][0]["message"]["content"], content);
        assert_eq!(body["choices"][0]["finish_reason"], "stop");
    }
    let request = post("connection: close\r\n", &BODY.replace("\"stream\":true", "\"stream\":false"));
    assert_eq!(
        status(&server, &request).await.0,
        "HTTP/1.1 429 Too Many Requests",
        "a whole reply is as it is"
    );
}

#[tokio::test]
async fn what_is_too_large_or_malformed_is_refused_with_a_reason() {
    let options = Options { max_body: 1000, ..Options::default() };
    let server = MockServer::start(Script::default(), options).await.unwrap();
    let long_head = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(100_000));
    let many_headers = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(200));
    // All of it is sent although the head alone is refused; the reason still arrives.
    let long_body = post("", &"x".repeat(8_000_000));
    for (request, expected) in [
        (long_body.as_str(), "413 Content Too Large"),
        ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3e9\r\n", "413 Content Too Large"),
        (&long_head, "431 Request Header Fields Too Large"),
        (&many_headers, "431 Request Header Fields Too Large"),
        ("NOT HTTP\r\n\r\n", "400 Bad Request"),
        ("POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", "400 Bad Request"),
        ("POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n", "501 Not Implemented"),
    ] {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        // The client keeps its side open, as one that is still sending would.
        soon(stream.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}\r\n")), "{answer}");
        assert!(answer.contains("\"error\":{\"message\":"), "{answer}");
    }
}
