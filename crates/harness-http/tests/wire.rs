//! The client against real sockets: redirects, headers, and the ways a connection breaks.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use futures_util::StreamExt;
use harness_http::{HttpConfig, ProxySetting, TransportError, TransportKind, client};
use support::{Ending, serve};

fn direct() -> reqwest::Client {
    client(&HttpConfig { proxy: ProxySetting::Direct, ..HttpConfig::default() }).unwrap()
}

/// The fault that a response made of `reply` ends with, and the bytes that came before it.
async fn fault(reply: &str, ending: Ending) -> (TransportError, usize) {
    let (address, _requests) = serve(vec![(reply.to_owned(), ending)]).await;
    let response = match direct().get(format!("http://{address}/?key=hush")).send().await {
        Ok(response) => response,
        Err(error) => return (error.into(), 0),
    };
    let mut received = 0;
    let mut body = response.bytes_stream();
    loop {
        match body.next().await.unwrap() {
            Ok(bytes) => received += bytes.len(),
            Err(error) => return (error.into(), received),
        }
    }
}

#[tokio::test]
async fn a_redirect_is_returned_and_credentials_stay() {
    let (other, mut other_requests) = serve(vec![(String::new(), Ending::Close)]).await;
    let redirect =
        format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://{other}/\r\nContent-Length: 0\r\n\r\n");
    let (address, mut requests) = serve(vec![(redirect, Ending::Close)]).await;
    let response =
        direct().post(format!("http://{address}/v1")).bearer_auth("hush").body("{}").send().await.unwrap();
    assert_eq!(response.status(), 307);
    let head = requests.try_recv().unwrap().to_lowercase();
    assert!(head.contains("authorization: bearer hush"), "{head}");
    assert!(!head.contains("accept-encoding"), "{head}");
    assert!(head.contains("user-agent: harness/"), "{head}");
    assert!(other_requests.try_recv().is_err(), "the redirect was followed");
}

#[tokio::test]
async fn broken_connections_are_told_apart() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let one_chunk = format!("{head}5\r\nhello\r\n");
    let half_chunk = format!("{head}a\r\nhello");
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello".to_owned();
    for (reply, ending, kind, received) in [
        (one_chunk.as_str(), Ending::Close, TransportKind::ClosedEarly, 5),
        (half_chunk.as_str(), Ending::Close, TransportKind::ClosedEarly, 5),
        (short.as_str(), Ending::Close, TransportKind::ClosedEarly, 5),
        (head, Ending::Close, TransportKind::ClosedEarly, 0),
        ("", Ending::Close, TransportKind::ClosedEarly, 0),
        (head, Ending::Reset, TransportKind::Reset, 0),
        ("", Ending::Reset, TransportKind::Reset, 0),
        ("SSH-2.0-x\r\n", Ending::Close, TransportKind::Other, 0),
    ] {
        let (found, bytes) = fault(reply, ending).await;
        assert_eq!((found.kind, bytes), (kind, received), "{reply:?} {ending:?}: {found}");
        assert!(!found.detail.contains("hush") && !found.detail.is_empty(), "{found}");
    }
}

#[tokio::test]
async fn a_refused_connection_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = direct().get(format!("http://{address}/")).send().await.unwrap_err();
    let fault = TransportError::from(error);
    assert_eq!(fault.kind, TransportKind::Connect, "{fault}");
    assert!(fault.detail.to_lowercase().contains("refused"), "{fault}");
}

#[tokio::test]
async fn a_handshake_that_stalls_runs_into_the_connect_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = HttpConfig { connect_timeout: Duration::from_millis(50), ..HttpConfig::default() };
    let error = client(&config).unwrap().get(format!("https://{address}/")).send().await.unwrap_err();
    let fault = TransportError::from(error);
    assert_eq!(fault.kind, TransportKind::ConnectTimeout, "{fault}");
}

#[test]
fn a_bad_user_agent_is_refused() {
    let config = HttpConfig { user_agent: "two\nlines".into(), ..HttpConfig::default() };
    assert_eq!(client(&config).unwrap_err().code(), "HTTP_USER_AGENT");
}
