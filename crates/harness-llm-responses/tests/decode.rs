//! Event tables: what each odd form of the wire becomes.
mod support;

use support::lines;

fn owned(events: &[&str]) -> Vec<String> {
    events.iter().map(|event| (*event).to_owned()).collect()
}

const DONE: &str = r#"{"type":"response.completed","response":{}}"#;

#[test]
fn reasoning_keeps_what_must_go_back() {
    let chunks = lines(&owned(&[
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"one"}"#,
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"two"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}]}}"#,
        r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"delta":"a"}"#,
        DONE,
    ]));
    let kept = concat!(
        r#"0 end {"type":"reasoning","text":"one\n\ntwo","replay":{"id":"rs_1","summary":[{"type":"summary_text","#,
        r#""text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"gAAA"}}"#
    );
    let expected =
        ["0 reasoning", "0 + one", "0 + \n\n", "0 + two", "1 text", "1 + a", kept, "1 end", "stop"];
    assert_eq!(chunks, expected);
}

#[test]
fn reasoning_that_is_only_encrypted_is_kept_without_a_text() {
    let chunks = lines(&owned(&[
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[]}}"#,
        r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"delta":"a"}"#,
        DONE,
    ]));
    let kept = r#"0 end {"type":"reasoning","text":"","replay":{"id":"rs_1","encrypted_content":"gAAA"}}"#;
    assert_eq!(chunks, ["0 reasoning", "1 text", "1 + a", kept, "1 end", "stop"]);
}

#[test]
fn the_finished_arguments_count() {
    let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"t"}}"#;
    let delta = r#"{"type":"response.function_call_arguments.delta","item_id":"f","output_index":0,"delta":"{\"a\""}"#;
    let done = |arguments: &str| {
        format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"function_call","id":"f","call_id":"c","name":"t","arguments":"{arguments}"}}}}"#
        )
    };
    let all = |arguments: &str| lines(&[added.into(), delta.into(), done(arguments), DONE.into()]);
    assert_eq!(all(r#"{\"a\":1}"#), ["0 call t c", r#"0 + {"a""#, "0 + :1}", "0 end", "tool-calls"]);
    let whole = r#"0 end {"type":"tool-call","id":"c","name":"t","arguments":"{\"b\":1}"}"#;
    assert_eq!(all(r#"{\"b\":1}"#), ["0 call t c", r#"0 + {"a""#, whole, "tool-calls"]);
    assert_eq!(lines(&[done("{}"), DONE.into()]), ["0 call t c", "0 + {}", "0 end", "tool-calls"]);
}

#[test]
fn an_answer_in_the_last_event_alone_is_taken() {
    let chunks = lines(&owned(&[
        r#"{"type":"response.completed","response":{"output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]},{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},{"type":"unknown"}]}}"#,
    ]));
    assert_eq!(chunks, ["0 text", "0 + ab", "1 call t c", "1 + {}", "0 end", "1 end", "tool-calls"]);
}

#[test]
fn an_item_that_was_streamed_is_not_said_twice() {
    let chunks = lines(&owned(&[
        r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"a"}"#,
        r#"{"type":"response.output_text.done","item_id":"m","output_index":0,"text":"a"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","content":[{"type":"output_text","text":"a"}]}}"#,
        r#"{"type":"response.completed","response":{"output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"a"}]}]}}"#,
    ]));
    assert_eq!(chunks, ["0 text", "0 + a", "0 end", "stop"]);
}

#[test]
fn every_way_to_end_badly_has_its_own_code() {
    let said = r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"delta":"a"}"#;
    for (event, code) in [
        (
            r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}"#,
            "CONTENT_FILTER",
        ),
        (r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"moon"}}}"#, "MOON"),
        (r#"{"type":"response.incomplete","response":{}}"#, "INCOMPLETE"),
        (
            r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"x"}}}"#,
            "RATE_LIMIT",
        ),
        (
            r#"{"type":"error","code":"context_length_exceeded","message":"x","param":null}"#,
            "CONTEXT_WINDOW_EXCEEDED",
        ),
        (r#"{"type":"error","error":{"type":"insufficient_quota","message":"x"}}"#, "QUOTA"),
        (r#"{"error":{"message":"x"}}"#, "SERVER"),
        (r#"{"type":"response.output_text.delta","delta":7}"#, "MALFORMED_RESPONSE"),
        (r#"{"type":"response.output_item.done","item":{"type":7}}"#, "MALFORMED_RESPONSE"),
        (r#"{"type":"response.completed","response":{"output":[]}}"#, "EMPTY_RESPONSE"),
        ("[DONE]", "STREAM_CLOSED"),
    ] {
        let said = (code != "EMPTY_RESPONSE").then(|| said.to_owned());
        let events: Vec<_> = said.into_iter().chain([event.to_owned()]).collect();
        let last = lines(&events).pop().unwrap_or_default();
        assert!(last.starts_with(&format!("{code}: ")), "{event}: {last}");
    }
}
