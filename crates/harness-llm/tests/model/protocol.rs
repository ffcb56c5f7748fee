//! The chunk protocol: each rule, kept and broken.
use harness_llm::{Block, BlockKind, Chunk, FailureCode, FinishReason, ProtocolChecker, Violation};

use crate::chunks::{
    arguments, call, call_kind, end, end_with, failed, finish, other_kind, reasoning, start, start_text,
    stop, text, thought, unknown, usage,
};

/// The first broken rule and where it is broken.
fn broken(chunks: &[Chunk]) -> Option<(usize, Violation)> {
    let mut checker = ProtocolChecker::default();
    chunks.iter().enumerate().find_map(|(at, chunk)| Some((at, checker.check(chunk).err()?)))
}

fn wrong_type(index: u32, open: &'static str, got: &'static str) -> Violation {
    Violation::WrongType { index, open: open.into(), got: got.into() }
}

#[test]
fn legal_streams_pass() {
    let streams = [
        vec![stop()],
        vec![usage(), stop()],
        vec![start_text(0), text(0, "a"), end(0), stop()],
        vec![start_text(0), end(0), start_text(1), end(1), stop()],
        // Blocks may overlap, close in any order, and leave gaps in the numbering.
        vec![start_text(0), start(3, call_kind()), arguments(3, "{}"), text(0, "a"), end(3), end(0), stop()],
        vec![start(0, BlockKind::Reasoning), reasoning(0, "r"), end_with(0, thought("r")), usage(), stop()],
        vec![start(0, other_kind("picture")), end_with(0, unknown("picture")), stop()],
        vec![start_text(0), text(0, "a"), failed(FailureCode::TRANSPORT)],
        vec![start_text(0), finish(FinishReason::Aborted { failure: harness_llm::Failure::aborted() })],
    ];
    for stream in streams {
        assert_eq!(broken(&stream), None, "{stream:?}");
    }
}

#[test]
fn each_broken_rule_is_named_where_it_is_broken() {
    let closed = [start_text(0), end(0)];
    let cases = [
        (vec![start_text(0), start_text(0)], Violation::Restarted(0), "block-restarted"),
        ([&closed[..], &[start_text(0)]].concat(), Violation::Restarted(0), "block-restarted"),
        (vec![start_text(0), start_text(1), start_text(0)], Violation::Restarted(0), "block-restarted"),
        (vec![start_text(5), start_text(4)], Violation::OutOfOrder { got: 4, last: 5 }, "block-out-of-order"),
        (vec![text(0, "a")], Violation::NotOpen(0), "block-not-open"),
        (vec![end(0)], Violation::NotOpen(0), "block-not-open"),
        (vec![end_with(0, Block::text("a"))], Violation::NotOpen(0), "block-not-open"),
        ([&closed[..], &[text(0, "a")]].concat(), Violation::NotOpen(0), "block-not-open"),
        ([&closed[..], &[end(0)]].concat(), Violation::NotOpen(0), "block-not-open"),
        (vec![start_text(0), reasoning(0, "a")], wrong_type(0, "text", "reasoning"), "block-wrong-type"),
        (vec![start_text(0), arguments(0, "a")], wrong_type(0, "text", "tool-call"), "block-wrong-type"),
        (vec![start(0, call_kind()), text(0, "a")], wrong_type(0, "tool-call", "text"), "block-wrong-type"),
        (
            vec![start_text(0), end_with(0, call("{}"))],
            wrong_type(0, "text", "tool-call"),
            "block-wrong-type",
        ),
        (
            vec![start(0, other_kind("picture")), end_with(0, unknown("audio"))],
            wrong_type(0, "picture", "audio"),
            "block-wrong-type",
        ),
        (
            vec![start(0, other_kind("picture")), text(0, "a")],
            wrong_type(0, "picture", "text"),
            "block-wrong-type",
        ),
        (vec![start(0, other_kind("picture")), end(0)], Violation::NoBlock(0), "block-missing"),
        (vec![usage(), usage()], Violation::SecondUsage, "usage-repeated"),
        (vec![stop(), usage()], Violation::AfterFinish, "chunk-after-finish"),
        (vec![stop(), stop()], Violation::AfterFinish, "chunk-after-finish"),
        (vec![start_text(2), stop()], Violation::OpenAtFinish(2), "block-open-at-finish"),
        (
            vec![start(0, call_kind()), finish(FinishReason::MaxTokens)],
            Violation::OpenAtFinish(0),
            "block-open-at-finish",
        ),
    ];
    for (stream, violation, code) in cases {
        let last = stream.len() - 1;
        assert_eq!(violation.code(), code);
        assert_eq!(broken(&stream), Some((last, violation)), "{stream:?}");
    }
}

#[test]
fn the_checker_knows_when_it_is_over() {
    let mut checker = ProtocolChecker::default();
    assert!(!checker.finished());
    checker.check(&stop()).unwrap();
    assert!(checker.finished());
}
