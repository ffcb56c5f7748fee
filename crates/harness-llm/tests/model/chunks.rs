//! Chunks in few words, and random ones.
use harness_llm::{Block, BlockKind, Chunk, Failure, FailureCode, FinishReason, ToolCallBlock, Usage};
use proptest::prelude::*;

pub(crate) fn start(index: u32, kind: BlockKind) -> Chunk {
    Chunk::BlockStart { index, kind }
}
pub(crate) fn start_text(index: u32) -> Chunk {
    start(index, BlockKind::Text)
}
pub(crate) fn call_kind() -> BlockKind {
    BlockKind::ToolCall { id: "c1".into(), name: "read".into() }
}
pub(crate) fn other_kind(name: &str) -> BlockKind {
    BlockKind::Other { name: name.into() }
}
pub(crate) fn text(index: u32, piece: &str) -> Chunk {
    Chunk::TextDelta { index, text: piece.into() }
}
pub(crate) fn reasoning(index: u32, piece: &str) -> Chunk {
    Chunk::ReasoningDelta { index, text: piece.into() }
}
pub(crate) fn arguments(index: u32, piece: &str) -> Chunk {
    Chunk::ToolCallDelta { index, arguments: piece.into() }
}
pub(crate) fn end(index: u32) -> Chunk {
    Chunk::BlockEnd { index, block: None }
}
pub(crate) fn end_with(index: u32, block: Block) -> Chunk {
    Chunk::BlockEnd { index, block: Some(block) }
}
pub(crate) fn call(arguments: &str) -> Block {
    Block::ToolCall(ToolCallBlock { id: "c1".into(), name: "read".into(), arguments: arguments.into() })
}
pub(crate) fn thought(text: &str) -> Block {
    Block::Reasoning { text: text.into(), replay: None }
}
/// A block of a type that this build does not know.
pub(crate) fn unknown(name: &str) -> Block {
    serde_json::from_value(serde_json::json!({ "type": name, "data": [1] })).unwrap()
}
pub(crate) fn usage() -> Chunk {
    Chunk::Usage(Usage { input: 3, output: 5, ..Usage::default() })
}
pub(crate) fn finish(reason: FinishReason) -> Chunk {
    Chunk::Finish(reason.into())
}
pub(crate) fn stop() -> Chunk {
    finish(FinishReason::Stop)
}
pub(crate) fn failed(code: FailureCode) -> Chunk {
    finish(FinishReason::Error { failure: Failure::new(code, "it broke") })
}

/// Any chunk at all, most of them out of place.
pub(crate) fn any_chunk() -> impl Strategy<Value = Chunk> {
    let kind = prop_oneof![
        Just(BlockKind::Text),
        Just(BlockKind::Reasoning),
        Just(call_kind()),
        Just(other_kind("picture")),
    ];
    let block = prop_oneof![
        Just(Block::text("whole")),
        Just(thought("whole")),
        Just(call("{}")),
        Just(unknown("picture"))
    ];
    prop_oneof![
        4 => (0..4u32, kind).prop_map(|(index, kind)| start(index, kind)),
        3 => (0..4u32).prop_map(|index| text(index, "t")),
        2 => (0..4u32).prop_map(|index| reasoning(index, "r")),
        2 => (0..4u32).prop_map(|index| arguments(index, "{}")),
        3 => (0..4u32, prop::option::of(block)).prop_map(|(index, block)| Chunk::BlockEnd { index, block }),
        1 => Just(usage()),
        1 => prop_oneof![Just(stop()), Just(failed(FailureCode::SERVER))],
    ]
}
