//! Any chunking of the same bytes gives the same items.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use harness_sse::{SseError, SseEvent, SseItem, SseStream, StreamEnd};
use proptest::prelude::*;

/// Small, so that generated streams run into it now and then.
const LIMIT: usize = 40;

/// Items as text (errors included, transport errors cannot occur) and how the stream ended.
fn read(chunks: Vec<Bytes>, limit: usize) -> (Vec<String>, Option<StreamEnd>) {
    let source = stream::iter(chunks.into_iter().map(Ok::<_, std::convert::Infallible>));
    let mut events = SseStream::with_event_limit(source, limit);
    let items = events.by_ref().map(|item| format!("{item:?}")).collect();
    (items.now_or_never().expect("the source is always ready"), events.end())
}

/// Pieces that make up streams dense in line ends, comments, split characters and bad bytes.
fn token() -> impl Strategy<Value = Vec<u8>> {
    let tokens: [&[u8]; 16] = [
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"data: ",
        b"data",
        b"event: e\n",
        b"id: 1\n",
        b":",
        b": ping\n",
        b"x",
        "é€😀".as_bytes(),
        "\u{feff}".as_bytes(),
        b"data: {\"choices\":[]}\n\n",
        b"\xff",
        b"\xe2\x82",
    ];
    // Bad bytes end a stream, so they must be rare for the rest to be reached.
    let rare = tokens.len() - 2;
    (0usize..160).prop_map(move |n| tokens[if n < 158 { n % rare } else { rare + n % 2 }].to_vec())
}

/// The items of valid text by the letter of the standard, on the whole text at once, plus our two
/// additions: comments are items, an unfinished event at the end is flagged.
fn model(input: &str) -> Vec<String> {
    let text = input.strip_prefix('\u{feff}').unwrap_or(input).replace("\r\n", "\n").replace('\r', "\n");
    let (mut items, mut id, mut kind, mut data) = (Vec::new(), String::new(), String::new(), String::new());
    let ends_open = !text.is_empty() && !text.ends_with('\n');
    let closing = if ends_open { "\n\n" } else { "\n" };
    let lines = text.matches('\n').count();
    for (n, line) in (text.clone() + closing).split_terminator('\n').enumerate() {
        if let Some(comment) = line.strip_prefix(':') {
            // An unfinished comment line is not one yet.
            if n < lines {
                items.push(format!("{:?}", Ok::<_, SseError<()>>(SseItem::Comment(comment.to_owned()))));
            }
        } else if line.is_empty() {
            if let Some(data) = data.strip_suffix('\n') {
                let event = if kind.is_empty() { "message" } else { &kind }.to_owned();
                let event = SseEvent { event, data: data.to_owned(), id: id.clone(), truncated: n >= lines };
                items.push(format!("{:?}", Ok::<_, SseError<()>>(SseItem::Event(event))));
            }
            kind.clear();
            data.clear();
        } else {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "event" => value.clone_into(&mut kind),
                "data" => data.extend([value, "\n"]),
                "id" => value.clone_into(&mut id),
                _ => {}
            }
        }
    }
    items
}

fn cut(input: &[u8], sizes: &[usize]) -> Vec<Bytes> {
    let mut chunks = Vec::new();
    let mut rest = input;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
        chunks.push(Bytes::copy_from_slice(chunk));
        rest = after;
    }
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn items_do_not_depend_on_the_chunks(
        tokens in proptest::collection::vec(token(), 0..40),
        sizes in proptest::collection::vec(1usize..9, 1..6),
    ) {
        let input = tokens.concat();
        let whole = read(vec![Bytes::from(input.clone())], LIMIT);
        let bytewise = read(cut(&input, &[1]), LIMIT);
        prop_assert_eq!(&whole, &bytewise, "one chunk against single bytes");
        // Sizes of zero are empty chunks, which must be nothing.
        let mut pieces = cut(&input, &sizes);
        pieces.insert(pieces.len() / 2, Bytes::new());
        prop_assert_eq!(&whole, &read(pieces, LIMIT), "one chunk against pieces");
    }

    #[test]
    fn items_are_those_of_the_standard(
        tokens in proptest::collection::vec(token(), 0..40),
        size in 1usize..30,
    ) {
        let input = tokens.concat();
        prop_assume!(std::str::from_utf8(&input).is_ok());
        let (items, _) = read(cut(&input, &[size]), usize::MAX);
        prop_assert_eq!(items, model(std::str::from_utf8(&input).unwrap()));
    }
}
