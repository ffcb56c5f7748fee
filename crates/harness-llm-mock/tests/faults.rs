//! Each fault as a bare socket and as a real HTTP client see it.

mod support;

use std::io::ErrorKind;

use harness_http::TransportKind::{ClosedEarly, Reset};
use harness_llm_mock::{End, Reply, Step, txt};
use support::{Seen, exchange, last_chat, send, start, stream};

/// Two deltas in two segments.
fn two_deltas() -> Reply {
    Reply::new().pieces(["Let me "]).flush().pieces(["compare"])
}

fn head_only() -> Reply {
    Reply::new().step(Step::Head)
}

#[tokio::test]
async fn the_ways_a_stream_breaks_look_different_to_a_client() {
    let half_line = two_deltas().step(Step::Raw("data: {\"id\":\"x".into()));
    for (reply, seen) in [
        (two_deltas().end(End::Cut), Seen::Broken { events: 2, inside: false, kind: ClosedEarly }),
        (half_line.clone().end(End::Cut), Seen::Broken { events: 2, inside: true, kind: ClosedEarly }),
        (two_deltas().end(End::Reset), Seen::Broken { events: 2, inside: false, kind: Reset }),
        (half_line.end(End::Reset), Seen::Broken { events: 2, inside: true, kind: Reset }),
        (head_only().end(End::Cut), Seen::Broken { events: 0, inside: false, kind: ClosedEarly }),
        (head_only().end(End::Reset), Seen::Broken { events: 0, inside: false, kind: Reset }),
        (Reply::new().end(End::Cut), Seen::Nothing(ClosedEarly)),
        (Reply::new().end(End::Reset), Seen::Nothing(Reset)),
    ] {
        let server = start([reply.clone()]).await;
        assert_eq!(stream(&server).await, seen, "{reply:?}");
    }
}

#[tokio::test]
async fn the_ways_a_stream_breaks_look_different_on_the_wire() {
    for (reply, last_bytes, reset) in [
        (txt("a").end(End::Done), "data: [DONE]\n\n\r\n0\r\n\r\n", false),
        (txt("a").end(End::Eof), "\"finish_reason\":null}]}\n\n\r\n0\r\n\r\n", false),
        (txt("a").end(End::Cut), "\"finish_reason\":null}]}\n\n\r\n", false),
        (txt("a").end(End::Reset), "\"finish_reason\":null}]}\n\n\r\n", true),
        (head_only().end(End::Cut), "\r\n\r\n", false),
        (Reply::new().end(End::Cut), "", false),
    ] {
        let server = start([reply.clone()]).await;
        let (answer, outcome) = exchange(&server, &last_chat()).await;
        assert!(answer.ends_with(last_bytes), "{reply:?}: {answer:?}");
        let fault = outcome.err().map(|fault| fault.kind());
        assert_eq!(fault, reset.then_some(ErrorKind::ConnectionReset), "{reply:?}");
    }
}

#[tokio::test]
async fn a_complete_body_can_lack_its_sentinel() {
    let server = start([txt("a"), txt("a").end(End::WithoutDone), txt("a").end(End::Eof)]).await;
    let Seen::Complete(whole) = stream(&server).await else { panic!("not complete") };
    assert_eq!(whole.len(), 4, "delta, finish, usage, sentinel: {whole:?}");
    assert_eq!(whole[3], "[DONE]");
    assert_eq!(
        stream(&server).await,
        Seen::Complete(whole[..3].iter().map(|data| data.replace("mock-1", "mock-2")).collect())
    );
    assert_eq!(stream(&server).await, Seen::Complete(vec![whole[0].replace("mock-1", "mock-3")]));
}

#[tokio::test]
async fn dripping_and_split_characters_change_nothing_for_a_careful_client() {
    let split =
        Reply::new().step(Step::Raw("data: \u{20ac}".into())).bytes(b"\xe2\x82").flush().bytes(b"\xac\n\n");
    let server = start([txt("häß€😀").drip(3, 0), txt("häß€😀"), split.end(End::Eof)]).await;
    let Seen::Complete(dripped) = stream(&server).await else { panic!("not complete") };
    let Seen::Complete(whole) = stream(&server).await else { panic!("not complete") };
    assert_eq!(dripped.iter().map(|data| data.replace("mock-1", "mock-2")).collect::<Vec<_>>(), whole);
    assert_eq!(stream(&server).await, Seen::Complete(vec!["€€".into()]));
}

#[tokio::test]
async fn a_drip_is_many_small_writes() {
    let server = start([Reply::new().drip(2, 0).step(Step::Raw("data: abc\n\n".into())).end(End::Cut)]).await;
    let (answer, _) = exchange(&server, &last_chat()).await;
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(body, "2\r\nda\r\n2\r\nta\r\n2\r\n: \r\n2\r\nab\r\n2\r\nc\n\r\n1\r\n\n\r\n");
}

#[tokio::test]
async fn errors_keep_their_status_headers_and_body() {
    let server = start([
        Reply::error(401, "bad key"),
        Reply::error(429, "slow down").header("Retry-After", "7"),
        Reply::error(500, "boom").header("content-type", "text/plain"),
    ])
    .await;
    let response = send(&server).await.unwrap();
    assert_eq!(response.status(), 401);
    assert!(response.text().await.unwrap().contains("\"message\":\"bad key\""));
    let response = send(&server).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (429, &"7".parse().unwrap())
    );
    assert_eq!(response.headers()["x-request-id"], "mock-2");
    let response = send(&server).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (500, &"text/plain".parse().unwrap())
    );
}

#[tokio::test]
async fn a_script_that_runs_out_says_so() {
    let server = start([txt("only")]).await;
    assert!(matches!(stream(&server).await, Seen::Complete(_)));
    let response = send(&server).await.unwrap();
    assert_eq!(response.status(), 500);
    let text = response.text().await.unwrap();
    assert!(text.contains("no reply for request 2") && text.contains("1 replies"), "{text}");
}
