//! Event tables: what each odd form of the wire becomes.
mod support;

use support::lines;

fn owned(events: &[&str]) -> Vec<String> {
    events.iter().map(|event| (*event).to_owned()).collect()
}

fn over(reason: &str) -> [String; 2] {
    [
        format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":7}}}}"#
        ),
        r#"{"type":"message_stop"}"#.to_owned(),
    ]
}

#[test]
fn thinking_keeps_its_signature_and_redacted_thinking_its_data() {
    let mut events = owned(&[
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"si"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"g"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwK"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"a"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
    ]);
    events.extend(over("end_turn"));
    assert_eq!(
        lines(&events),
        [
            "0 reasoning",
            "0 + hm",
            r#"0 end {"type":"reasoning","text":"hm","replay":{"signature":"sig"}}"#,
            "1 reasoning",
            r#"1 end {"type":"reasoning","text":"","replay":{"redacted":"EmwK"}}"#,
            "2 text",
            "2 + a",
            "2 end",
            "usage 3 7",
            "stop"
        ]
    );
}

#[test]
fn arguments_of_the_start_count_where_no_pieces_come() {
    let mut events = owned(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"t","input":{"a":1}}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"d","name":"t","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"b\":2}"}}"#,
    ]);
    events.extend(over("tool_use"));
    assert_eq!(
        lines(&events),
        [
            "0 call t c",
            "1 call t d",
            r#"1 + {"b":2}"#,
            r#"0 + {"a":1}"#,
            "0 end",
            "1 end",
            "usage 0 7",
            "tool-calls"
        ]
    );
}

#[test]
fn every_way_to_end_badly_has_its_own_code() {
    let said = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}"#;
    let stop = r#"{"type":"message_stop"}"#;
    let reason = |word: &str| format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{word}"}}}}"#);
    for (event, code) in [
        (reason("refusal"), "CONTENT_FILTER"),
        (reason("model_context_window_exceeded"), "CONTEXT_WINDOW_EXCEEDED"),
        (reason("pause_turn"), "PAUSE_TURN"),
        (String::new(), "STREAM_CLOSED"),
        (r#"{"type":"error","error":{"type":"rate_limit_error","message":"x"}}"#.into(), "RATE_LIMIT"),
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#.into(), "SERVER"),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}"#
                .into(),
            "CONTEXT_WINDOW_EXCEEDED",
        ),
        (r#"{"error":{"message":"x"}}"#.into(), "SERVER"),
        (r#"{"type":"content_block_delta","index":0,"delta":7}"#.into(), "MALFORMED_RESPONSE"),
        (
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c"}}"#.into(),
            "MALFORMED_RESPONSE",
        ),
    ] {
        let last = lines(&[said.to_owned(), event.clone(), stop.to_owned()]).pop().unwrap_or_default();
        assert!(last.starts_with(&format!("{code}: ")), "{event}: {last}");
    }
    let unfinished = lines(&[said.to_owned(), reason("end_turn")]).pop().unwrap_or_default();
    assert!(unfinished.starts_with("STREAM_CLOSED: ") && unfinished.contains("`end_turn`"), "{unfinished}");
}
