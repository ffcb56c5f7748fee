//! Gates, stalls and the owner's waits: nothing here depends on time.

mod support;

use futures_util::StreamExt;
use harness_llm_mock::{MockServer, Options, Recording, Reply, Script, Step, WhenExhausted, txt};
use support::{BODY, Seen, send, soon, start, stream};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_gate_holds_a_reply_until_it_is_released() {
    let server =
        start([Reply::new().pieces(["a"]).gate("go on").pieces(["b"]), txt("c").gate("go on")]).await;
    let mut body = send(&server).await.unwrap().bytes_stream();
    let first = soon(body.next()).await.unwrap().unwrap();
    assert!(first.starts_with(b"data: ") && first.ends_with(b"\n\n"), "{first:?}");
    soon(server.wait_for_gate("go on")).await;
    server.release("go on");
    let rest: Vec<_> = soon(body.map(Result::unwrap).collect()).await;
    assert!(rest.concat().ends_with(b"data: [DONE]\n\n"));
    assert!(matches!(stream(&server).await, Seen::Complete(_)), "a released gate stays open");
}

#[tokio::test]
async fn a_gate_before_the_head_holds_the_whole_response() {
    let server = start([Reply::new().gate("head").pieces(["a"])]).await;
    let sending = send(&server);
    tokio::pin!(sending);
    tokio::select! {
        _ = &mut sending => panic!("the head came before the gate"),
        () = soon(server.wait_for_gate("head")) => {}
    }
    server.release("head");
    assert_eq!(sending.await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_client_that_leaves_a_stalled_reply_is_noticed() {
    for reply in [
        Reply::new().step(Step::Stall),
        txt("a").step(Step::Stall),
        txt("a").gate("never"),
        txt("a").step(Step::PauseMs(u64::MAX / 2)),
    ] {
        let server = start([Reply::new().step(Step::Head).step(Step::Raw(": on\n".into())), reply]).await;
        assert!(matches!(stream(&server).await, Seen::Complete(_)));
        let waiting = tokio::spawn({
            let url = format!("{}/chat/completions", server.base_url());
            async move {
                let client = harness_http::client(&harness_http::HttpConfig::default()).unwrap();
                let response = client.post(url).body(BODY).send().await.unwrap();
                response.bytes_stream().map(|_| ()).collect::<Vec<()>>().await
            }
        });
        soon(server.wait_for_requests(2)).await;
        waiting.abort();
        soon(server.wait_for_disconnects(1)).await;
    }
}

#[tokio::test]
async fn requests_are_recorded_whole_and_can_be_waited_for() {
    let script = Script::default().when_exhausted(WhenExhausted::Echo);
    let options = Options { recording: Recording::Last(2), ..Options::default() };
    let server = MockServer::start(script, options).await.unwrap();
    let Seen::Complete(data) = stream(&server).await else { panic!("not complete") };
    assert!(data[0].contains("\"content\":\"go\""), "{data:?}");
    for _ in 0..2 {
        stream(&server).await;
    }
    soon(server.wait_for_requests(3)).await;
    let requests = server.requests();
    assert_eq!(requests.iter().map(harness_llm_mock::RecordedRequest::number).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((requests[0].method(), requests[0].path()), ("POST", "/v1/chat/completions"));
    assert_eq!(requests[0].body(), BODY.as_bytes());
    assert_eq!(requests[0].messages()[0]["content"], "go");
    assert!(!requests[0].has_credentials());
}

#[tokio::test]
async fn shutting_down_ends_connections_and_frees_the_port() {
    let server = start([Reply::new().step(Step::Head).step(Step::Stall)]).await;
    let address = server.address();
    let mut body = send(&server).await.unwrap().bytes_stream();
    server.shutdown().await;
    assert!(soon(body.next()).await.unwrap().is_err());
    assert!(TcpStream::connect(address).await.is_err());
    let options = Options { port: address.port(), ..Options::default() };
    let again = MockServer::start(Script::default(), options).await.unwrap();
    assert_eq!(again.address(), address);
    let fault = MockServer::start(Script::default(), options).await.unwrap_err();
    assert_eq!(fault.code(), "MOCK_BIND");
    assert!(fault.to_string().contains(&address.port().to_string()), "{fault}");
}
