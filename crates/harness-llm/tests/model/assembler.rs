//! From chunks to blocks.
use harness_llm::{Assembler, Block, BlockKind, Chunk, FinishReason, ProtocolChecker, ToolCallBlock, Usage};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use crate::chunks::{
    any_chunk, arguments, call, call_kind, end, end_with, failed, finish, other_kind, reasoning, start,
    start_text, stop, text, thought, unknown, usage,
};

fn assembled(chunks: &[Chunk]) -> Assembler {
    let mut assembler = Assembler::default();
    for chunk in chunks {
        assembler.push(chunk);
    }
    assembler
}

#[test]
fn blocks_come_in_order_of_first_appearance() {
    let chunks = [
        start(0, BlockKind::Reasoning),
        start_text(1),
        start(2, call_kind()),
        arguments(2, "{\"a\""),
        text(1, "hello"),
        arguments(2, ":1}"),
        reasoning(0, "hm"),
        end(2),
        end(0),
        end(1),
        usage(),
        finish(FinishReason::ToolCalls),
    ];
    let whole = assembled(&chunks).finish();
    assert_eq!(whole.content, [thought("hm"), Block::text("hello"), call(r#"{"a":1}"#)]);
    assert_eq!(whole.usage, Some(Usage { input: 3, output: 5, ..Usage::default() }));
    assert_eq!(whole.finish.reason, FinishReason::ToolCalls);
}

#[test]
fn the_final_block_replaces_what_was_streamed() {
    let signed = Block::Reasoning { text: "hm".into(), replay: Some(json!({ "signature": "s" })) };
    let chunks = [start(0, BlockKind::Reasoning), reasoning(0, "hmm"), end_with(0, signed.clone()), stop()];
    assert_eq!(assembled(&chunks).finish().content, [signed]);
}

#[test]
fn the_first_close_wins() {
    let late = [
        text(0, " and more"),
        end_with(0, Block::text("replaced")),
        start(0, call_kind()),
        arguments(0, "{}"),
        end(0),
    ];
    let chunks = [&[start_text(0), text(0, "first"), end(0)], &late[..]].concat();
    assert_eq!(assembled(&chunks).content(), [Block::text("first")]);
    let chunks = [&[start_text(0), end_with(0, Block::text("given"))], &late[..]].concat();
    assert_eq!(assembled(&chunks).content(), [Block::text("given")]);
}

#[test]
fn a_block_of_another_type_arrives_whole() {
    let chunks = [start(0, other_kind("chart")), end_with(0, unknown("chart")), stop()];
    assert_eq!(assembled(&chunks).finish().content, [unknown("chart")]);
}

#[test]
fn empty_text_is_nothing_but_a_signed_thought_and_an_empty_call_are_something() {
    let signed = Block::Reasoning { text: String::new(), replay: Some(json!("encrypted")) };
    let chunks = [
        start_text(0),
        end(0),
        start(1, BlockKind::Reasoning),
        end(1),
        start(2, BlockKind::Reasoning),
        end_with(2, signed.clone()),
        start(3, call_kind()),
        end(3),
    ];
    assert_eq!(assembled(&chunks).content(), [signed, call("")]);
}

#[test]
fn a_stream_without_a_finish_is_an_error_and_never_a_stop() {
    let whole = assembled(&[start(0, call_kind()), arguments(0, "{\"path\":\"a")]).finish();
    assert_eq!(whole.finish.reason.failure().unwrap().code.as_str(), "STREAM_CLOSED");
    assert!(matches!(assembled(&[]).finish().finish.reason, FinishReason::Error { .. }));
}

#[test]
fn the_first_finish_counts() {
    let chunks = [stop(), failed(harness_llm::FailureCode::SERVER)];
    assert_eq!(assembled(&chunks).finish().finish.reason, FinishReason::Stop);
}

/// The loop answers each cut call with an error, so it has to know of them.
#[test]
fn an_answer_that_is_cut_at_the_output_limit_keeps_its_calls() {
    let chunks = [start(0, call_kind()), arguments(0, "{\"pa"), end(0), finish(FinishReason::MaxTokens)];
    let whole = assembled(&chunks).finish();
    assert_eq!((whole.content, whole.finish.reason), (vec![call("{\"pa")], FinishReason::MaxTokens));
}

#[test]
fn an_interrupted_answer_is_its_visible_prefix() {
    let chunks = [
        start(0, BlockKind::Reasoning),
        reasoning(0, "hm"),
        end(0),
        start_text(1),
        text(1, " \n\t"),
        end(1),
        start(2, call_kind()),
        arguments(2, "{}"),
        end(2),
        start_text(3),
        text(3, "half a sen"),
        start(4, call_kind()),
    ];
    assert_eq!(assembled(&chunks).interrupted(), [thought("hm"), Block::text("half a sen")]);
    assert!(assembled(&[]).interrupted().is_empty());
}

#[test]
fn usage_adds_up_and_absent_counts_stay_absent() {
    let mut sum = Usage { input: 1, output: 2, cache_read: None, cache_write: None, reasoning: Some(1) };
    sum += Usage { input: 10, output: 20, cache_read: Some(7), cache_write: None, reasoning: Some(5) };
    let expected =
        Usage { input: 11, output: 22, cache_read: Some(7), cache_write: None, reasoning: Some(6) };
    assert_eq!(sum, expected);
    sum += Usage { input: u64::MAX, ..Usage::default() };
    assert_eq!(sum.input, u64::MAX, "a provider's nonsense does not overflow");
}

/// A block and the pieces that it is cut into.
fn block() -> impl Strategy<Value = (Block, Vec<String>)> {
    let pieces = prop::collection::vec("[a-zé🦀{}\" ]{1,5}", 0..6);
    (0..3u8, pieces).prop_map(|(kind, pieces)| {
        let whole: String = pieces.concat();
        let block = match kind {
            0 => Block::text(whole),
            1 => thought(&whole),
            _ => call(&whole),
        };
        (block, pieces)
    })
}

/// The chunks of blocks that are all open at once, each block's own chunks in order, the rest as `picks` says.
fn interleaved(blocks: &[(Block, Vec<String>)], picks: &[Index]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut queues = Vec::new();
    for ((block, pieces), index) in blocks.iter().zip(0u32..) {
        chunks.push(start(index, block.kind()));
        let delta = |piece: &String| match block {
            Block::Text { .. } => text(index, piece),
            Block::Reasoning { .. } => reasoning(index, piece),
            _ => arguments(index, piece),
        };
        let mut queue: Vec<Chunk> = pieces.iter().map(delta).collect();
        queue.push(end(index));
        queue.reverse();
        queues.push(queue);
    }
    let mut picks = picks.iter().cycle();
    while !queues.is_empty() {
        let at = picks.next().unwrap().index(queues.len());
        chunks.extend(queues[at].pop());
        if queues[at].is_empty() {
            queues.swap_remove(at);
        }
    }
    chunks.push(stop());
    chunks
}

fn is_something(block: &Block) -> bool {
    match block {
        Block::Text { text } | Block::Reasoning { text, replay: None } => !text.is_empty(),
        _ => true,
    }
}

proptest! {
    /// However blocks are cut and interleaved, they add up to the same.
    #[test]
    fn any_fragmentation_adds_up_to_the_same(
        blocks in prop::collection::vec(block(), 0..6),
        picks in prop::collection::vec(any::<Index>(), 1..40),
    ) {
        let chunks = interleaved(&blocks, &picks);
        let mut checker = ProtocolChecker::default();
        for chunk in &chunks {
            prop_assert_eq!(checker.check(chunk), Ok(()));
        }
        let expected: Vec<Block> = blocks.into_iter().map(|(block, _)| block).filter(is_something).collect();
        prop_assert_eq!(assembled(&chunks).finish().content, expected);
    }

    /// A prefix of a stream shows a prefix of each block, and never a call.
    #[test]
    fn an_interruption_anywhere_shows_only_what_was_said(
        blocks in prop::collection::vec(block(), 1..6),
        picks in prop::collection::vec(any::<Index>(), 1..40),
        cut in any::<Index>(),
    ) {
        let chunks = interleaved(&blocks, &picks);
        let prefix = assembled(&chunks[..cut.index(chunks.len())]);
        let whole = assembled(&chunks).content();
        for block in prefix.interrupted() {
            let said = |block: &Block| match block {
                Block::Text { text } => format!("text {text}"),
                Block::Reasoning { text, .. } => format!("reasoning {text}"),
                other => panic!("{other:?} is shown"),
            };
            let start = said(&block);
            let visible = |other: &&Block| !matches!(other, Block::ToolCall(_));
            prop_assert!(whole.iter().filter(visible).any(|other| said(other).starts_with(&start)));
        }
    }

    /// Chunks that the checker would have refused do no harm.
    #[test]
    fn no_order_of_chunks_panics(chunks in prop::collection::vec(any_chunk(), 0..30)) {
        let assembler = assembled(&chunks);
        prop_assert!(assembler.interrupted().len() <= assembler.content().len());
        let _ = assembler.finish();
    }
}

#[test]
fn a_call_block_is_kept_as_the_model_produced_it() {
    let odd = "{ \"a\" : \"\\u00e9\" , }";
    let chunks = [start(0, call_kind()), arguments(0, odd), end(0), stop()];
    let expected =
        Block::ToolCall(ToolCallBlock { id: "c1".into(), name: "read".into(), arguments: odd.into() });
    assert_eq!(assembled(&chunks).content(), [expected]);
}
