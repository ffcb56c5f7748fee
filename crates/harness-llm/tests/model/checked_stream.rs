//! The boundary: however a stream ends, its reader gets exactly one finish, and it comes last.
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt;
use harness_llm::{
    AdapterStream, CheckedStream, Chunk, Failure, FailureCode, FinishReason, LlmError, ProtocolChecker,
};
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::chunks::{any_chunk, end, failed, start_text, stop, text, usage};

type Item = Result<Chunk, LlmError>;

fn adapter(items: Vec<Item>) -> AdapterStream {
    Box::pin(futures_util::stream::iter(items))
}
async fn read(stream: AdapterStream, cancel: CancellationToken) -> Vec<Chunk> {
    CheckedStream::boxed(stream, cancel).collect().await
}
async fn read_items(items: Vec<Item>) -> Vec<Chunk> {
    read(adapter(items), CancellationToken::new()).await
}
fn thrown(code: FailureCode) -> Item {
    Err(LlmError::new(code, "it broke"))
}
type Ended<'a> = (&'static str, Option<&'a str>);

/// How a stream ended: `error` or `aborted` and the failure's code, or the other reason's name.
fn ended(chunks: &[Chunk]) -> Ended<'_> {
    let Some(Chunk::Finish(finish)) = chunks.last() else { panic!("no finish in {chunks:?}") };
    match &finish.reason {
        FinishReason::Aborted { failure } => ("aborted", Some(failure.code.as_str())),
        FinishReason::Error { failure } => ("error", Some(failure.code.as_str())),
        FinishReason::Stop => ("stop", None),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_way_to_end_is_one_finish() {
    let cases: [(&str, Vec<Item>, usize, Ended<'_>); 8] = [
        (
            "good",
            vec![Ok(start_text(0)), Ok(text(0, "a")), Ok(end(0)), Ok(usage()), Ok(stop())],
            5,
            ("stop", None),
        ),
        ("throws", vec![Ok(start_text(0)), thrown(FailureCode::SERVER)], 2, ("error", Some("SERVER"))),
        ("throws an abort", vec![thrown(FailureCode::ABORTED)], 1, ("aborted", Some("ABORTED"))),
        ("own code", vec![thrown(FailureCode::other("HTTP_418"))], 1, ("error", Some("HTTP_418"))),
        ("in-band error", vec![Ok(failed(FailureCode::QUOTA))], 1, ("error", Some("QUOTA"))),
        ("no finish", vec![Ok(start_text(0)), Ok(text(0, "a"))], 3, ("error", Some("STREAM_CLOSED"))),
        ("nothing", vec![], 1, ("error", Some("STREAM_CLOSED"))),
        ("breaks a rule", vec![Ok(text(0, "a")), Ok(stop())], 1, ("error", Some("PROTOCOL_VIOLATION"))),
    ];
    for (name, items, length, expected) in cases {
        let chunks = read_items(items).await;
        assert_eq!((chunks.len(), ended(&chunks)), (length, expected), "{name}: {chunks:?}");
    }
}

#[tokio::test]
async fn a_failure_keeps_its_facts() {
    let failure = Failure {
        status: Some(429),
        retry_after_ms: Some(1500),
        request_id: Some("r-1".into()),
        ..Failure::new(FailureCode::RATE_LIMIT, "slow down")
    };
    let chunks = read_items(vec![Err(failure.clone().into())]).await;
    let Chunk::Finish(finish) = &chunks[0] else { panic!("{chunks:?}") };
    assert_eq!(finish.reason.failure(), Some(&failure));
}

#[tokio::test]
async fn a_broken_rule_is_named() {
    let chunks = read_items(vec![Ok(text(7, "a"))]).await;
    let Chunk::Finish(finish) = &chunks[0] else { panic!("{chunks:?}") };
    assert!(finish.reason.failure().unwrap().message.contains("block 7 is not open"), "{finish:?}");
}

#[tokio::test]
async fn nothing_comes_after_the_finish() {
    let chunks = read_items(vec![Ok(stop()), Ok(text(0, "more")), thrown(FailureCode::SERVER)]).await;
    assert_eq!(chunks, [stop()]);
    let mut stream = CheckedStream::boxed(adapter(vec![Ok(stop())]), CancellationToken::new());
    assert!(stream.next().await.is_some());
    assert!(stream.next().await.is_none() && stream.next().await.is_none(), "it may be polled again");
}

/// When the caller has cancelled, whatever the adapter says about it is the consequence.
#[tokio::test]
async fn after_a_cancellation_a_failure_is_an_abort_and_keeps_its_code() {
    let cases = [
        (vec![thrown(FailureCode::TRANSPORT)], ("aborted", Some("TRANSPORT"))),
        (vec![], ("aborted", Some("STREAM_CLOSED"))),
        (vec![Ok(stop())], ("stop", None)),
    ];
    for (items, expected) in cases {
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert_eq!(ended(&read(adapter(items), cancel).await), expected);
    }
}

/// Yields one chunk and then nothing, for ever; tells when it is dropped.
struct Stalls {
    first: Option<Chunk>,
    dropped: Arc<AtomicBool>,
}
impl Stream for Stalls {
    type Item = Item;
    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Item>> {
        match self.first.take() {
            Some(chunk) => Poll::Ready(Some(Ok(chunk))),
            None => Poll::Pending,
        }
    }
}
impl Drop for Stalls {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stalled_stream_ends_when_the_caller_cancels_and_the_adapter_is_let_go() {
    let (cancel, dropped) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
    let stalls = Stalls { first: Some(start_text(0)), dropped: Arc::clone(&dropped) };
    let soon = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        soon.cancel();
    });
    let mut stream = CheckedStream::boxed(Box::pin(stalls), cancel);
    let reading = async {
        let mut chunks = Vec::new();
        while let Some(chunk) = stream.next().await {
            chunks.push(chunk);
        }
        chunks
    };
    let chunks = tokio::time::timeout(Duration::from_mins(1), reading).await.expect("it hangs");
    assert_eq!((chunks.len(), ended(&chunks)), (2, ("aborted", Some("ABORTED"))));
    assert!(
        dropped.load(Ordering::SeqCst),
        "the connection is closed while the reader still holds the stream"
    );
}

#[tokio::test]
async fn a_broken_stream_is_let_go_at_once() {
    struct Babbles(Arc<AtomicBool>);
    impl Stream for Babbles {
        type Item = Item;
        fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Item>> {
            Poll::Ready(Some(Ok(text(0, "never opened"))))
        }
    }
    impl Drop for Babbles {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let mut stream = CheckedStream::boxed(Box::pin(Babbles(Arc::clone(&dropped))), CancellationToken::new());
    assert!(matches!(stream.next().await, Some(Chunk::Finish(_))));
    assert!(dropped.load(Ordering::SeqCst));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_stream_that_panics_is_a_failure_like_any_other() {
    struct Explodes;
    impl Stream for Explodes {
        type Item = Item;
        fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Item>> {
            panic!("the decoder exploded")
        }
    }
    let chunks = read(Box::pin(Explodes), CancellationToken::new()).await;
    assert_eq!((chunks.len(), ended(&chunks)), (1, ("error", Some("LISTENER_PANICKED"))));
}

fn any_item() -> impl Strategy<Value = Item> {
    prop_oneof![20 => any_chunk().prop_map(Ok), 1 => Just(thrown(FailureCode::TRANSPORT))]
}

proptest! {
    /// Whatever an adapter sends, its reader sees a stream that keeps every rule.
    #[test]
    fn what_comes_out_is_always_legal(items in prop::collection::vec(any_item(), 0..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let chunks = runtime.block_on(read_items(items));
        let mut checker = ProtocolChecker::default();
        for chunk in &chunks {
            prop_assert_eq!(checker.check(chunk), Ok(()));
        }
        prop_assert!(checker.finished());
    }
}
