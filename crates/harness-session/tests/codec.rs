//! The stored form: what is written is what is read.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use std::sync::Arc;

use harness_llm::{Block, BlockKind, CallConfig, Chunk, Failure, FailureCode, Message, ToolSpec};
use harness_session::{
    AbortCause, AgentParked, Body, ChunkRecorder, DecodeError, Decoder, Draft, Event, EventClass, Form,
    HeaderReason, InboxSpliced, InboxTarget, PluginEvent, RequestContext, RequestHeader, SessionHeader,
    SessionResumed, TurnEnd, TurnEndReason, decode_header, encode_event, encode_header,
};
use proptest::prelude::*;

mod rig;
use rig::{AT, Rig, answer, block_on, call, result, step_end, step_start, turn_end, turn_start, user};

#[derive(serde::Serialize, serde::Deserialize)]
struct Note {
    text: String,
    share: f64,
}
impl PluginEvent for Note {
    const TYPE: &'static str = "test/note";
    const CLASS: EventClass = EventClass::Standalone;
    const REQUIRED: bool = true;
}

fn full(event: &Event) -> String {
    encode_event(event, Form::Full).unwrap()
}
/// Encodes in a form, decodes, and compares all that the full form says.
fn there_and_back(events: &[Arc<Event>], form: impl Fn(usize) -> Form) -> Vec<String> {
    let mut decoder = Decoder::default();
    let mut lines = vec![];
    for (index, event) in events.iter().enumerate() {
        let line = encode_event(event, form(index)).unwrap();
        assert!(!line.contains('\n'), "two lines: {line}");
        let read = decoder.decode(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(full(&read), full(event));
        assert_eq!(encode_event(&read, form(index)).unwrap(), line, "not the same when written again");
        lines.push(line);
    }
    lines
}
/// Streams chunks into the log, in runs of a size, and appends the message.
fn stream(rig: &Rig, chunks: &[Chunk], run: usize, interrupted: bool) {
    let mut recorder = ChunkRecorder::new(AT, 1);
    for part in chunks.chunks(run.max(1)) {
        for chunk in part {
            recorder.push(rig.session.clock().now_ms(), chunk);
        }
        let seq = rig.append(recorder.take_run().unwrap());
        recorder.logged(seq);
    }
    if interrupted {
        recorder.interrupted("p", "m").into_iter().for_each(|draft| _ = rig.append(draft));
    } else {
        rig.append(recorder.message("p", "m"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_form_comes_back(
        texts in proptest::collection::vec("\\PC{0,20}|[\\x00-\\x1f\u{2028}\"\\\\]{0,5}", 1..6),
        run in 1usize..7,
        calls in 0usize..3,
        interrupted in any::<bool>(),
        share in any::<f64>().prop_filter("JSON has no NaN", |n| n.is_finite()),
        forms in any::<[bool; 16]>(),
    ) {
        block_on(async {
            let rig = Rig::new().await;
            let (text, ids) = (texts.concat(), ["a", "b", "c"]);
            rig.append(InboxSplice::with(&text));
            rig.append(turn_start(1));
            rig.append(step_start(1, 1));
            rig.append(user(&text));
            rig.append(header(share, &text));
            stream(&rig, &answer(&text, &ids[..calls]), run, interrupted);
            if !interrupted {
                for (position, id) in (0u32..).zip(&ids[..calls]) {
                    rig.append(call(AT, position, id));
                    rig.append(result(AT, position, id, position == 1));
                }
            }
            rig.append(step_end(1, 1));
            rig.append(turn_end(1));
            rig.session.append_plugin(&Note { text, share }).unwrap();
            let events = rig.events();
            let stored = there_and_back(&events, |_| Form::Stored);
            let spelt = there_and_back(&events, |_| Form::Full);
            there_and_back(&events, |index| if forms[index % 16] { Form::Stored } else { Form::Full });
            assert!(stored.concat().len() <= spelt.concat().len());
        });
    }
}

struct InboxSplice;
impl InboxSplice {
    fn with(text: &str) -> Draft {
        let message = Arc::new(Message::user(text));
        Body::InboxSpliced(InboxSpliced {
            target: InboxTarget::NextStep,
            removed: vec![message.id],
            inserted: vec![message],
            canceled: true,
        })
        .into()
    }
}
fn header(share: f64, system: &str) -> Draft {
    let spec =
        serde_json::json!({"name": "probe", "description": system, "parameters": {"z": share, "a": 1}});
    let config: CallConfig =
        serde_json::from_value(serde_json::json!({"provider": "p", "model": "m", "temperature": share}))
            .unwrap();
    let tools: Vec<ToolSpec> = serde_json::from_value(serde_json::json!([spec])).unwrap();
    let (system, tools, reason) = (Some(system.into()), tools.into(), HeaderReason::Initial);
    Body::RequestHeader(Arc::new(RequestHeader { config, system, tools, reason })).into()
}

#[test]
fn every_other_type_comes_back() {
    block_on(async {
        let rig = Rig::new().await;
        let failure = Failure::new(FailureCode::SERVER, "no");
        let reasons = [
            TurnEndReason::Completed,
            TurnEndReason::Aborted { cause: AbortCause::Signal { signal: "SIGINT".into() } },
            TurnEndReason::Blocked { reason: Some("because".into()) },
            TurnEndReason::Error { failure },
            TurnEndReason::MaxTokens,
            TurnEndReason::Budget { budget: "steps".into(), limit: 200 },
            TurnEndReason::Interrupted,
        ];
        for (turn, reason) in (1..).zip(reasons) {
            rig.append(turn_start(turn));
            rig.append(step_start(turn, 1));
            let context = RequestContext { provider: "p".into(), model: "m".into(), context_window: Some(9) };
            rig.append(Body::RequestContext(context));
            rig.clock.advance(-50);
            rig.append(step_end(turn, 1));
            rig.append(Body::TurnEnd(TurnEnd { turn, reason }));
        }
        rig.append(Body::AgentParked(AgentParked { pending: 1, reason: "error".into() }));
        rig.append(Body::SessionResumed(SessionResumed { program: "1.0".into() }));
        there_and_back(&rig.events(), |_| Form::Stored);
    });
}

#[test]
fn an_answer_is_not_stored_twice_and_never_lost() {
    block_on(async {
        let rig = Rig::new().await;
        rig.append(turn_start(1));
        rig.append(step_start(1, 1));
        let chunks = answer("the words of the answer", &[]);
        stream(&rig, &chunks, 2, false);
        let lines = there_and_back(&rig.events(), |_| Form::Stored);
        assert!(!lines.last().unwrap().contains("\"content\""), "stored twice");
        let mut late = Decoder::default();
        assert!(
            matches!(late.decode(lines.last().unwrap()), Err(DecodeError::MissingChunks(at)) if at == AT)
        );

        // Chunks that did not reach the log: the message must carry its content itself.
        let mut silent = ChunkRecorder::new(AT, 2);
        let mut unlogged = ChunkRecorder::new(AT, 3);
        let empty = ChunkRecorder::new(AT, 4);
        for chunk in &chunks {
            silent.push(0, chunk);
            unlogged.push(0, chunk);
        }
        drop(unlogged.take_run());
        for (recorder, text) in
            [(silent, "the words of the answer"), (unlogged, "the words of the answer"), (empty, "")]
        {
            rig.append(recorder.message("p", "m"));
            let event = rig.session.view().last().unwrap();
            let read = Decoder::default().decode(&encode_event(&event, Form::Stored).unwrap()).unwrap();
            let Body::AssistantMessage(read) = read.body else { panic!() };
            assert_eq!(read.message.text(), text);
        }
    });
}

#[test]
fn attempts_do_not_mix() {
    block_on(async {
        let rig = Rig::new().await;
        rig.append(turn_start(1));
        rig.append(step_start(1, 1));
        let mut first = ChunkRecorder::new(AT, 1);
        first.push(0, &Chunk::BlockStart { index: 0, kind: BlockKind::Text });
        first.push(0, &Chunk::TextDelta { index: 0, text: "broken off".into() });
        rig.append(first.take_run().unwrap());
        let mut second = ChunkRecorder::new(AT, 2);
        for chunk in answer("whole", &[]) {
            second.push(0, &chunk);
        }
        let seq = rig.append(second.take_run().unwrap());
        second.logged(seq);
        rig.append(second.message("p", "m"));
        there_and_back(&rig.events(), |_| Form::Stored);
        assert_eq!(rig.session.messages()[0].content, [Block::text("whole")]);
    });
}

#[test]
fn unknown_events_keep_every_byte() {
    let data = r#"{"b": [1.50, -0.0,1e400 ,12345678901234567890123], "a":"\u00e9\/" , "b":null}"#;
    for flags in ["", r#""required":true,"#, r#""sources":[0,1],"#] {
        let line = format!(r#"{{"type":"acme/metric","seq":2,"time":-5,{flags}"data":{data}}}"#);
        let event = Decoder::default().decode(&line).unwrap();
        let Body::Plugin(plugin) = &event.body else { panic!() };
        assert_eq!((plugin.name(), plugin.raw().get()), ("acme/metric", data));
        assert_eq!(plugin.required(), flags.contains("required"));
        assert_eq!(encode_event(&event, Form::Stored).unwrap(), line);
        assert_eq!(encode_event(&event, Form::Full).unwrap(), line);
    }
    let odd = r#" { "data":[ ], "time":1 , "type":"acme\/metric","seq":0 } "#;
    let event = Decoder::default().decode(odd).unwrap();
    assert_eq!(full(&event), r#"{"type":"acme/metric","seq":0,"time":1,"data":[ ]}"#);
}

#[test]
fn what_does_not_fit_the_format_is_refused() {
    for (line, error) in [
        (r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1},"colour":1}"#, "unknown field `colour`"),
        (r#"{"type":"turn/start","seq":0,"time":1}"#, "missing field `data`"),
        (r#"{"type":"turn/start","seq":-1,"time":1,"data":{"turn":1}}"#, "invalid value: integer `-1`"),
        (r#"{"type":"turn/start","seq":0,"time":1,"data":{}}"#, "missing field `turn`"),
        (r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}} x"#, "trailing characters"),
        (r#"{"type":"turn/start","seq":0,"time":1,"data":{"tu"#, "EOF while parsing"),
    ] {
        let refused = Decoder::default().decode(line).unwrap_err().to_string();
        assert!(refused.contains(error), "{refused}: {line}");
    }
}

#[test]
fn headers_come_back_and_newer_ones_are_refused_by_number() {
    let mut header = SessionHeader::new(5, Some("/wörk \"x\"".into()));
    header.parent = Some(SessionHeader::new(1, None).id);
    header.inherited = 7;
    assert_eq!(decode_header(&encode_header(&header).unwrap()).unwrap(), header);
    header.version = 2;
    let newer = encode_header(&header).unwrap().replace("\"cwd\"", "\"folder\"");
    let refused = decode_header(&newer).unwrap_err();
    assert!(matches!(refused, DecodeError::NewerFormat { found: 2 }), "{refused}");
    let event = r#"{"type":"turn/start","header":{"version":1}}"#;
    assert!(matches!(decode_header(event), Err(DecodeError::NotAHeader)));
    assert!(matches!(decode_header("{\"type\":\"session\""), Err(DecodeError::Json(_))));
}
