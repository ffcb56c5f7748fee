//! Stored size of a flood of small chunks.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use harness_llm::{BlockKind, Chunk, FinishReason};
use harness_session::{ChunkRecorder, Form, encode_event, encode_header};

mod rig;
use rig::{AT, Rig, step_end, step_start, turn_end, turn_start};

#[tokio::test]
async fn a_flood_of_words_is_stored_in_less_than_twice_its_text() {
    let rig = Rig::new().await;
    rig.append(turn_start(1));
    rig.append(step_start(1, 1));
    let mut recorder = ChunkRecorder::new(AT, 1);
    let push = |recorder: &mut ChunkRecorder, chunk: &Chunk| {
        rig.clock.advance(1);
        if recorder.push(rig.session.clock().now_ms(), chunk) {
            let seq = rig.append(recorder.take_run().unwrap());
            recorder.logged(seq);
        }
    };
    push(&mut recorder, &Chunk::BlockStart { index: 0, kind: BlockKind::Text });
    for _ in 0..20_000 {
        push(&mut recorder, &Chunk::TextDelta { index: 0, text: "abc ".into() });
    }
    push(&mut recorder, &Chunk::BlockEnd { index: 0, block: None });
    push(&mut recorder, &Chunk::Finish(FinishReason::Stop.into()));
    let seq = rig.append(recorder.take_run().unwrap());
    recorder.logged(seq);
    rig.append(recorder.message("provider", "model"));
    rig.append(step_end(1, 1));
    rig.append(turn_end(1));

    let events = rig.events();
    let lines = events.iter().map(|event| encode_event(event, Form::Stored).unwrap().len() + 1);
    let stored = lines.sum::<usize>() + encode_header(rig.session.header()).unwrap().len() + 1;
    let text = 80_000;
    println!("{stored} bytes for {text} bytes of text");
    assert!(stored * 10 <= text * 18, "{stored} bytes for {text} bytes of text");
}
