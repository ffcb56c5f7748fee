//! Each fault that was measured in the parser behind this crate, seen to be gone.
#![expect(clippy::expect_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use harness_sse::{SseError, SseEvent, SseItem, SseStream, StreamEnd};

/// Guards against a quadratic cost coming back; linear ones take well below a second.
const HANG: Duration = Duration::from_mins(1);

type Item = Result<SseItem, SseError<&'static str>>;

/// All items of `chunks` and how the stream ended.
fn read(
    chunks: impl IntoIterator<Item = Result<Bytes, &'static str>>,
    limit: usize,
) -> (Vec<Item>, Option<StreamEnd>) {
    let mut events = SseStream::with_event_limit(stream::iter(chunks), limit);
    let items = events.by_ref().collect().now_or_never().expect("the source is always ready");
    (items, events.end())
}

fn whole(input: &[u8]) -> (Vec<Item>, Option<StreamEnd>) {
    read([Ok(Bytes::copy_from_slice(input))], 1 << 20)
}

fn event(data: &str, truncated: bool) -> SseItem {
    SseItem::Event(SseEvent { event: "message".into(), data: data.into(), id: String::new(), truncated })
}

#[track_caller]
fn data_of(item: &Item) -> &str {
    match item {
        Ok(SseItem::Event(event)) => &event.data,
        other => panic!("expected an event, got {other:?}"),
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let (items, end) = whole(b"\xef\xbb\xbfdata: a\n\n");
    assert_eq!(data_of(&items[0]), "a");
    assert_eq!((items.len(), end), (1, Some(StreamEnd::Clean)));
    // Also when each of its bytes comes alone, and when there is a second one.
    let (items, _) = read(b"\xef\xbb\xbfdata: a\n\n".iter().map(|b| Ok(Bytes::copy_from_slice(&[*b]))), 99);
    assert_eq!(data_of(&items[0]), "a");
    let (items, _) = whole(b"\xef\xbb\xbf\xef\xbb\xbfdata: lost\n\ndata: b\n\n");
    assert_eq!(data_of(&items[0]), "b");
}

#[test]
fn an_invalid_byte_ends_the_stream_at_once() {
    let source =
        [Ok(Bytes::from_static(b"data: a\n\ndata: \xff")), Ok(Bytes::from_static(b"\n\ndata: b\n\n"))];
    let (items, end) = read(source, 1 << 20);
    assert_eq!(data_of(&items[0]), "a");
    assert!(matches!(items[1], Err(SseError::InvalidUtf8 { offset: 15 })), "{items:?}");
    assert_eq!((items.len(), end), (2, None));
}

#[test]
fn an_invalid_byte_is_reported_before_its_event_is_complete() {
    let chunks = stream::iter([Ok::<_, &str>(Bytes::from_static(b"data: \x80"))]).chain(stream::pending());
    let first = SseStream::new(chunks).next().now_or_never().expect("reported without more input");
    assert!(matches!(first, Some(Err(SseError::InvalidUtf8 { offset: 6 }))));
}

#[test]
fn an_event_without_its_blank_line_is_handed_on_and_flagged() {
    for input in ["data: a\n\ndata: [DONE]", "data: a\n\ndata: [DONE]\n", "data: a\n\ndata: [DONE]\r"] {
        let (items, end) = whole(input.as_bytes());
        let items: Vec<SseItem> = items.into_iter().map(Result::unwrap).collect();
        assert_eq!(items, [event("a", false), event("[DONE]", true)], "{input:?}");
        assert_eq!(end, Some(StreamEnd::Truncated));
    }
}

#[test]
fn a_stream_cut_inside_a_character_keeps_what_came_before_it() {
    let (items, end) = whole(b"data: ab\xe2\x82");
    assert_eq!(items.into_iter().map(Result::unwrap).collect::<Vec<_>>(), [event("ab", true)]);
    assert_eq!(end, Some(StreamEnd::Truncated));
}

#[test]
fn a_broken_connection_says_whether_an_event_was_open() {
    let (items, end) = read([Ok(Bytes::from_static(b"data: a\n\n")), Err("reset")], 99);
    assert!(matches!(items[1], Err(SseError::Transport { source: "reset", pending: 0 })), "{items:?}");
    assert_eq!(end, None);
    let (items, _) = read([Ok(Bytes::from_static(b"data: a\n\ndata: {\"x")), Err("reset")], 99);
    assert!(matches!(items[1], Err(SseError::Transport { source: "reset", pending: 9 })), "{items:?}");
    assert_eq!(items.len(), 2, "nothing follows an error");
}

#[test]
fn an_event_above_the_limit_is_refused_while_it_arrives() {
    let endless = (0..).map(|n| Ok(Bytes::from_static(if n == 0 { b"data: " } else { b"xxxxxxxx" })));
    let (items, end) = read(endless, 1000);
    assert!(matches!(items[..], [Err(SseError::EventTooLarge { limit: 1000 })]), "{items:?}");
    assert_eq!(end, None);
}

#[test]
fn comments_are_signs_of_life_and_never_add_up_to_an_event() {
    let keep_alive = (0..1000).map(|_| Ok(Bytes::from_static(b": ping\n")));
    let (items, _) = read(keep_alive.chain([Ok(Bytes::from_static(b"data: a\n\n"))]), 100);
    assert_eq!(items.len(), 1001);
    assert!(matches!(&items[999], Ok(SseItem::Comment(text)) if text == " ping"));
    assert_eq!(data_of(&items[1000]), "a");
}

/// 17.6 s in a release build without the framer.
#[test]
fn one_mebibyte_line_in_small_chunks_is_linear() {
    let text = "x".repeat(1 << 20);
    let input = Bytes::from(format!("data: {text}\n\n"));
    let started = Instant::now();
    let chunks = (0..input.len()).step_by(256).map(|at| Ok(input.slice(at..input.len().min(at + 256))));
    let (items, _) = read(chunks, 2 << 20);
    assert_eq!(data_of(&items[0]).len(), 1 << 20);
    assert!(started.elapsed() < HANG, "{:?}", started.elapsed());
}

/// 9.5 s in a release build without the framer.
#[test]
fn many_events_in_one_chunk_are_linear() {
    let input = (0..64_000).fold(String::new(), |text, n| text + &format!("data: {n}\n\n"));
    let started = Instant::now();
    let (items, _) = whole(input.as_bytes());
    assert_eq!(items.len(), 64_000);
    assert_eq!(data_of(&items[63_999]), "63999");
    assert!(started.elapsed() < HANG, "{:?}", started.elapsed());
}

/// The parser copies the rest of its input once a line: one event of many lines is the same trap.
#[test]
fn one_event_of_many_lines_is_linear() {
    let input = "data: x\n".repeat(100_000) + "\n";
    let started = Instant::now();
    let (items, _) = read([Ok(Bytes::from(input))], 8 << 20);
    assert_eq!(data_of(&items[0]).len(), 2 * 100_000 - 1);
    assert!(started.elapsed() < HANG, "{:?}", started.elapsed());
}
