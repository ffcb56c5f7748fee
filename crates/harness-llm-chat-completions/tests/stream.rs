//! Whole bodies: any fragmentation, every end, cancellation.
#![expect(clippy::unwrap_used, reason = "tests")]
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use harness_llm::{AdapterStream, Chunk, Failure, FailureCode};
use harness_llm_chat_completions::{Compat, StreamDecoder};
use harness_llm_http::{BodyFault, chunks};
use proptest::prelude::*;
use support::{call, check, delta, finish, line, request};
use tokio_util::sync::CancellationToken;

fn decoder() -> Box<StreamDecoder> {
    Box::new(StreamDecoder::new(Arc::new(request(Vec::new())), &Compat::default()))
}

fn stream_of(pieces: Vec<Result<Bytes, BodyFault>>) -> AdapterStream {
    chunks(stream::iter(pieces), decoder(), CancellationToken::new())
}

fn collect(pieces: Vec<Result<Bytes, BodyFault>>) -> Vec<Chunk> {
    let chunks: Vec<_> = stream_of(pieces).map(Result::unwrap).collect().now_or_never().unwrap();
    check(&chunks);
    chunks
}

fn lines(pieces: &[&str], fault: Option<BodyFault>) -> Vec<String> {
    let pieces =
        pieces.iter().map(|piece| Ok(Bytes::copy_from_slice(piece.as_bytes()))).chain(fault.map(Err));
    collect(pieces.collect()).iter().map(line).collect()
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// The wire form of a response with one of everything.
fn wire() -> String {
    [
        ": keep-alive\n\n".to_owned(),
        event(&delta(r#"{"role":"assistant","content":"","reasoning_content":""}"#)),
        event(&delta(r#"{"reasoning_content":"Überlegung 😀"}"#)),
        event(&delta(r#"{"content":"Grüße"}"#)).replace("\n\n", "\r\n\r\n"),
        event(&call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#)),
        event(&call(r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{\"ä\""}}"#)),
        event(&call(r#"{"index":1,"function":{"arguments":":1}"}}"#)),
        ": tick\n\n".to_owned(),
        event(&finish("tool_calls")),
        event(r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#),
        event("[DONE]"),
    ]
    .concat()
}

#[test]
fn a_whole_response_in_one_piece() {
    assert_eq!(
        lines(&[&wire()], None),
        [
            "0 reasoning",
            "0 + Überlegung 😀",
            "1 text",
            "1 + Grüße",
            "2 call f a",
            "3 call g b",
            r#"3 + {"ä""#,
            "3 + :1}",
            "0 end",
            "1 end",
            "2 end",
            "3 end",
            "usage 5 7",
            "tool-calls"
        ]
    );
}

proptest! {
    #[test]
    fn fragmentation_changes_nothing(cuts in proptest::collection::vec(0usize..2000, 0..40)) {
        let wire = wire();
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut % wire.len()).collect();
        cuts.extend([0, wire.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| Ok(Bytes::copy_from_slice(&wire.as_bytes()[pair[0]..pair[1]])));
        prop_assert_eq!(collect(pieces.collect()), collect(vec![Ok(Bytes::from(wire.clone()))]));
    }

    #[test]
    fn a_response_cut_anywhere_keeps_the_protocol_and_never_ends_well(end in 0usize..2000) {
        let wire = wire();
        // Before the sentinel is whole.
        let end = end % (wire.len() - "]\n\n".len());
        let chunks = collect(vec![Ok(Bytes::copy_from_slice(&wire.as_bytes()[..end]))]);
        let Some(Chunk::Finish(finish)) = chunks.last() else { panic!("{chunks:?}") };
        prop_assert_eq!(&finish.reason.failure().unwrap().code, &FailureCode::STREAM_CLOSED);
    }

    #[test]
    fn any_events_keep_the_protocol(picks in proptest::collection::vec((0usize..12, 0u8..3, "[a-c]?", "[fg]?"), 0..20)) {
        let mut wire = String::new();
        for (pick, index, id, name) in picks {
            let data = match pick {
                0 => "{\"choices\":[{\"delta\":{\"content\":\"t\"}}]}".to_owned(),
                1 => delta(r#"{"reasoning":"r"}"#),
                2 => finish("stop"),
                3 => finish("length"),
                4 => "[DONE]".to_owned(),
                5 => "{".to_owned(),
                6 => r#"{"usage":{"prompt_tokens":1}}"#.to_owned(),
                7 => call(&format!(r#"{{"id":"{id}","function":{{"name":"{name}","arguments":"}}"}}}}"#)),
                _ => call(&format!(r#"{{"index":{index},"id":"{id}","function":{{"name":"{name}","arguments":"{{"}}}}"#)),
            };
            wire.push_str(&event(&data));
        }
        collect(vec![Ok(Bytes::from(wire))]);
    }
}

#[test]
fn the_ends_of_a_connection_are_told_apart() {
    let two = [event(&delta(r#"{"content":"Let me "}"#)), event(&delta(r#"{"content":"compare"}"#))];
    let two = [two[0].as_str(), two[1].as_str()];
    let cut = [two[0], two[1], "data: {\"choi"];
    let last = |pieces: &[&str], fault| lines(pieces, fault).pop().unwrap();
    let reset = || Some(BodyFault::Broken("connection reset by peer".into()));
    for fault in [None, Some(BodyFault::ClosedEarly)] {
        assert!(last(&two, fault.clone()).contains("closed the stream after 2 events"));
        assert!(last(&cut, fault.clone()).contains("cut in the middle of an event"));
        assert!(last(&[], fault).contains("without sending anything"));
    }
    assert!(
        last(&two, reset()).starts_with("TRANSPORT: the connection to the model server broke after 2 events")
    );
    assert!(last(&cut, reset()).contains("12 bytes into the next one"));
    let silent = BodyFault::Failed(Failure::new(FailureCode::TIMEOUT, "silent for 5s"));
    assert_eq!(last(&two, Some(silent)), "TIMEOUT: silent for 5s");
}

#[test]
fn bytes_that_are_no_event_stream_are_named() {
    let bytes = vec![Ok(Bytes::from_static(b"data: \xff\n\n"))];
    let chunks = collect(bytes);
    assert!(line(&chunks[0]).starts_with("MALFORMED_RESPONSE: "), "{chunks:?}");
    assert!(line(&chunks[0]).contains("UTF-8"));
    let failed = lines(&["event: error\ndata: {\"message\":\"busy\"}\n\n"], None);
    assert!(failed[0].starts_with("SERVER: ") && failed[0].contains("busy"), "{failed:?}");
}

#[tokio::test(start_paused = true)]
async fn the_body_is_read_to_its_end_but_not_waited_for() {
    let tail = [": bye\n\n", "data: {\n\n", "data: [DONE]\n\n"].map(|tail| Ok(Bytes::from(tail)));
    for (seconds, held) in [(0.005, 5), (3600.0, 20)] {
        let last = Box::pin(tokio::time::sleep(Duration::from_secs_f64(seconds)));
        let last = stream::once(last).filter_map(async |()| None);
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let end = stream::once(async move { end.store(true, Ordering::Relaxed) }).filter_map(async |()| None);
        let body =
            stream::iter([Ok(Bytes::from(wire()))]).chain(stream::iter(tail.clone())).chain(last).chain(end);
        let mut stream = chunks(Box::pin(body), decoder(), CancellationToken::new());
        let started = tokio::time::Instant::now();
        let mut got = Vec::new();
        while let Some(chunk) = stream.next().await {
            got.push(chunk.unwrap());
            if got.len() == 13 {
                assert_eq!(started.elapsed(), Duration::ZERO, "only the finish may wait");
            }
        }
        check(&got);
        assert_eq!(got.len(), 14);
        assert_eq!(started.elapsed().as_millis(), held);
        assert_eq!(ended.load(Ordering::Relaxed), held == 5);
    }
}

#[test]
fn a_flood_behind_the_end_marker_is_cut_off() {
    let flood = stream::repeat_with(|| Ok(Bytes::from_static(b": more\n\n")));
    let body = stream::iter([Ok(Bytes::from(wire()))]).chain(flood);
    let got: Vec<_> = chunks(body, decoder(), CancellationToken::new()).collect().now_or_never().unwrap();
    assert_eq!(got.len(), 14);
}

#[tokio::test]
async fn cancelling_ends_a_silent_stream_and_drops_the_body() {
    let alive = Arc::new(());
    let witness = Arc::downgrade(&alive);
    let first = event(&delta(r#"{"content":"Let me "}"#));
    let body = stream::iter([Ok(Bytes::from(first))]).chain(stream::pending()).map(move |item| {
        let _: &Arc<()> = &alive;
        item
    });
    let cancel = CancellationToken::new();
    let mut stream = chunks(body, decoder(), cancel.clone());
    assert_eq!(line(&stream.next().await.unwrap().unwrap()), "0 text");
    assert_eq!(line(&stream.next().await.unwrap().unwrap()), "0 + Let me ");
    let waiting = tokio::spawn(async move { (stream.next().await, stream.next().await) });
    tokio::task::yield_now().await;
    cancel.cancel();
    let (end, after) = waiting.await.unwrap();
    assert_eq!(line(&end.unwrap().unwrap()), "ABORTED: the model call was cancelled");
    assert!(after.is_none());
    assert!(witness.upgrade().is_none(), "the body must be dropped");
}

#[test]
fn cancelling_wins_over_what_is_ready() {
    let cancel = CancellationToken::new();
    let mut stream = chunks(stream::iter([Ok(Bytes::from(wire()))]), decoder(), cancel.clone());
    assert_eq!(line(&stream.next().now_or_never().unwrap().unwrap().unwrap()), "0 reasoning");
    cancel.cancel();
    let end = stream.next().now_or_never().unwrap().unwrap().unwrap();
    assert_eq!(line(&end), "ABORTED: the model call was cancelled");
}
