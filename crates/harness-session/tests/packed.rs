//! Packing loses nothing: no text, no boundary, no arrival time.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use harness_llm::{
    Block, BlockKind, Chunk, Failure, FailureCode, Finish, FinishReason, ToolCallBlock, Usage,
};
use harness_session::{Body, ChunkRecorder, ChunkRun, PackedItem, TimedChunk, UnpackError};
use proptest::prelude::*;

mod rig;
use rig::{AT, Rig, block_on};

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{0,12}", "\\PC{0,4}", Just("\u{1f980}é\"\\\n\0".to_owned()), "[a-z]{40,80}"]
}
fn chunk() -> impl Strategy<Value = Chunk> {
    let index = 0u32..3;
    let kind = prop_oneof![
        Just(BlockKind::Text),
        Just(BlockKind::Reasoning),
        (text(), text()).prop_map(|(id, name)| BlockKind::ToolCall { id, name }),
        text().prop_map(|name| BlockKind::Other { name }),
    ];
    let block = proptest::option::of(prop_oneof![
        text().prop_map(Block::text),
        text()
            .prop_map(|text| Block::Reasoning { text, replay: Some(serde_json::json!({"signature": "x"})) }),
        text().prop_map(|text| Block::ToolCall(ToolCallBlock {
            id: text.clone(),
            name: text.clone(),
            arguments: text
        })),
    ]);
    let reason = prop_oneof![
        Just(FinishReason::Stop),
        Just(FinishReason::MaxTokens),
        text().prop_map(|text| FinishReason::Error { failure: Failure::new(FailureCode::SERVER, text) }),
    ];
    prop_oneof![
        4 => (index.clone(), text()).prop_map(|(index, text)| Chunk::TextDelta { index, text }),
        2 => (index.clone(), text()).prop_map(|(index, text)| Chunk::ReasoningDelta { index, text }),
        2 => (index.clone(), text()).prop_map(|(index, arguments)| Chunk::ToolCallDelta { index, arguments }),
        1 => (index.clone(), kind).prop_map(|(index, kind)| Chunk::BlockStart { index, kind }),
        1 => (index, block).prop_map(|(index, block)| Chunk::BlockEnd { index, block }),
        1 => any::<(u64, u64, Option<u64>)>().prop_map(|(input, output, cache_read)| {
            Chunk::Usage(Usage { input, output, cache_read, ..Usage::default() })
        }),
        1 => reason.prop_map(|reason| {
            Chunk::Finish(Finish { reason, replay_state: Some(serde_json::json!([1, null])) })
        }),
    ]
}
/// A chunk, its distance from the one before in milliseconds, and whether the run is taken after it.
fn stream() -> impl Strategy<Value = Vec<(Chunk, i64, bool)>> {
    let gap =
        prop_oneof![4 => 0i64..20, 1 => -5000i64..0, 1 => 0i64..10_000_000, 1 => -1_000_000_000_000i64..0];
    proptest::collection::vec((chunk(), gap, proptest::bool::weighted(0.1)), 1..80)
}

proptest! {
    #[test]
    fn packed_runs_unpack_to_what_was_pushed(stream in stream()) {
        let mut recorder = ChunkRecorder::new(AT, 1);
        let (mut now, mut pushed, mut unpacked) = (1_700_000_000_000i64, vec![], vec![]);
        let mut take = |recorder: &mut ChunkRecorder| {
            let Some(draft) = recorder.take_run() else { return };
            let run = run_of(draft);
            let text = serde_json::to_string(&run).unwrap();
            let read: ChunkRun = serde_json::from_str(&text).unwrap();
            assert_eq!(read, run);
            unpacked.extend(read.unpack().unwrap());
        };
        for (chunk, gap, taken) in stream {
            now += gap;
            recorder.push(now, &chunk);
            pushed.push(TimedChunk { time: now, chunk });
            if taken {
                take(&mut recorder);
            }
        }
        take(&mut recorder);
        prop_assert_eq!(unpacked, pushed);
    }
}

/// The run inside a draft, through a live log.
fn run_of(draft: harness_session::Draft) -> ChunkRun {
    block_on(async {
        let rig = Rig::new().await;
        rig.append(rig::turn_start(1));
        rig.append(rig::step_start(1, 1));
        rig.append(draft);
        let Body::AssistantChunks(run) = &rig.session.view().last().unwrap().body else {
            panic!("not a run")
        };
        run.clone()
    })
}

#[test]
fn deltas_of_one_block_share_an_item() {
    let mut recorder = ChunkRecorder::new(AT, 1);
    for (index, text) in [(0, "a"), (0, "b"), (1, "c"), (0, "d")] {
        recorder.push(7, &Chunk::TextDelta { index, text: text.into() });
    }
    recorder.push(7, &Chunk::ReasoningDelta { index: 0, text: "e".into() });
    let run = run_of(recorder.take_run().unwrap());
    assert_eq!(run.items.len(), 4);
    assert_eq!(run.items[0], PackedItem::Text(0, "ab".into(), "CC".into()));
}

#[test]
fn a_full_run_asks_to_be_taken() {
    let mut recorder = ChunkRecorder::new(AT, 1);
    let word = Chunk::TextDelta { index: 0, text: "word".into() };
    let pushed = (1..10_000).find(|_| recorder.push(0, &word)).unwrap();
    assert_eq!(pushed, 4096);
    recorder.take_run().unwrap();
    assert!(recorder.push(0, &Chunk::TextDelta { index: 0, text: "x".repeat(256 * 1024) }));
    recorder.take_run().unwrap();
    assert!(recorder.take_run().is_none(), "an empty run");
}

#[test]
fn damaged_runs_are_refused() {
    let run = |gaps: &str, lengths: &str| ChunkRun {
        at: AT,
        attempt: 1,
        started: 0,
        gaps: gaps.into(),
        items: vec![PackedItem::Text(0, "aé".into(), lengths.into())],
    };
    assert_eq!(run("AA", "CE").unpack().unwrap().len(), 2);
    for (gaps, lengths, error) in [
        ("A", "CE", UnpackError::Gaps),
        ("AAA", "CE", UnpackError::Gaps),
        ("A?", "CE", UnpackError::Gaps),
        ("AA", "EC", UnpackError::Lengths(0)), // in the middle of a character
        ("AA", "CC", UnpackError::Lengths(0)),
        ("AA", "CG", UnpackError::Lengths(0)),
        ("AA", "CD", UnpackError::Lengths(0)), // negative
    ] {
        assert_eq!(run(gaps, lengths).unpack(), Err(error), "{gaps} {lengths}");
    }
}
