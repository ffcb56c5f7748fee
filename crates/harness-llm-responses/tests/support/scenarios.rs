//! The conformance scenarios in this format.
use bytes::Bytes;
use harness_llm_http::conformance::{
    ANSWER, COMPLAINT, Close, INPUT_TOKENS, KEY, LONG_ANSWER, OUTPUT_TOKENS, PARTIAL, REASONING, Scenario,
    Script, USED_CALL_ID, WAIT_MS,
};

/// What a server sends in `scenario`; `None` where there is no server.
pub(crate) fn responses(scenario: Scenario) -> Option<Script> {
    Some(match scenario {
        Scenario::Text => text(),
        Scenario::Reasoning => {
            let (head, tail) = REASONING.split_at(8);
            let delta = |piece: &str| {
                let event = r#""type":"response.reasoning_summary_text.delta","item_id":"rs","output_index":0"#;
                format!(r#"{{{event},"summary_index":0,"delta":"{piece}"}}"#)
            };
            events([
                created(),
                added(0, r#"{"type":"reasoning","id":"rs","summary":[]}"#),
                delta(head),
                delta(tail),
                done(0, &format!(r#"{{"type":"reasoning","id":"rs","summary":[{{"type":"summary_text","text":"{REASONING}"}}]}}"#)),
                said(1, ANSWER),
                completed(),
            ])
        }
        Scenario::ParallelCalls
        | Scenario::UnnumberedCalls
        | Scenario::EmptyArguments
        | Scenario::EmptyCallIds
        | Scenario::UsedCallId
        | Scenario::CutAtLimit => calls(scenario),
        Scenario::ClosedEarly => events([created(), partial()]),
        Scenario::CutInsideEvent => {
            let mut script = events([created(), partial()]);
            script.pieces.push(Bytes::from_static(b"event: response.output_text.delta\ndata: {\"type\":\"resp"));
            script
        }
        Scenario::Reset => Script { close: Close::Reset, ..events([created(), partial()]) },
        Scenario::HeadersOnly => events([]),
        Scenario::ErrorInStream => events([
            partial(),
            format!(r#"{{"type":"response.failed","response":{{"status":"failed","error":{{"code":"server_error","message":"{COMPLAINT}"}}}}}}"#),
        ]),
        Scenario::MalformedEvent => events([partial(), r#"{"type":"response.output_text.delta","#.into()]),
        Scenario::EmptyAnswer => events([created(), completed()]),
        Scenario::UnknownEvents => events([
            created(),
            r#"{"type":"response.audio.delta","delta":{"x":[1,null]},"item":7}"#.into(),
            added(0, r#"{"type":"web_search_call","id":"ws","status":"in_progress","action":{"q":[]}}"#),
            done(0, r#"{"type":"web_search_call","id":"ws","status":"completed","content":null}"#),
            said(1, ANSWER),
            r#"{"sequence_number":9,"odd":true}"#.into(),
            completed(),
        ]),
        Scenario::LoneSurrogate => {
            events([said(0, r"half \ud83d"), said(0, " done"), completed()])
        }
        Scenario::LongLine => events([said(0, &"x".repeat(LONG_ANSWER)), completed()]),
        Scenario::NoUsage => events([
            said(0, ANSWER),
            r#"{"type":"response.in_progress","response":{"usage":null}}"#.into(),
            r#"{"type":"response.completed","response":{"usage":{"input_tokens":0,"output_tokens":0,"input_tokens_details":null}}}"#.into(),
        ]),
        Scenario::OddUsage => events([
            r#"{"type":"response.created","response":{"usage":{"input_tokens":11,"output_tokens":0}}}"#.into(),
            said(0, ANSWER),
            format!(r#"{{"type":"response.in_progress","response":{{"usage":{}}}}}"#, usage()),
            r#"{"type":"response.completed","response":{"usage":null}}"#.into(),
        ]),
        Scenario::Unauthorized | Scenario::RateLimited | Scenario::ServerError => refusal(scenario),
        Scenario::Refused => return None,
        Scenario::Silent | Scenario::Cancelled => {
            Script { close: Close::Never, ..events([created(), partial()]) }
        }
        Scenario::SilentFromTheStart | Scenario::CancelledBeforeTheHead => {
            Script { status: None, headers: vec![], pieces: vec![], close: Close::Never }
        }
    })
}

fn calls(scenario: Scenario) -> Script {
    match scenario {
        Scenario::ParallelCalls => events([
            created(),
            call(0, "fc_a", "call_a", "first"),
            call(1, "fc_b", "call_b", "second"),
            more(0, "fc_a", r#"{\"n\""#),
            more(1, "fc_b", r#"{\"n\":2}"#),
            more(0, "fc_a", ":1}"),
            called(0, "fc_a", "call_a", "first", r#"{\"n\":1}"#),
            called(1, "fc_b", "call_b", "second", r#"{\"n\":2}"#),
            completed(),
        ]),
        Scenario::UnnumberedCalls => events([
            r#"{"type":"response.output_item.added","item":{"type":"function_call","call_id":"call_a","name":"first"}}"#.into(),
            r#"{"type":"response.function_call_arguments.delta","delta":"{\"n\":1}"}"#.into(),
            r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"call_a","name":"first","arguments":"{\"n\":1}"}}"#.into(),
            r#"{"type":"response.output_item.added","item":{"type":"function_call","call_id":"call_b","name":"second"}}"#.into(),
            r#"{"type":"response.function_call_arguments.delta","delta":"{\"n\":"}"#.into(),
            r#"{"type":"response.function_call_arguments.delta","delta":"2}"}"#.into(),
            r#"{"type":"response.output_item.done","item":{"type":"function_call","call_id":"call_b","name":"second","arguments":"{\"n\":2}"}}"#.into(),
            completed(),
        ]),
        Scenario::EmptyArguments => events([
            call(0, "fc_a", "call_a", "first"),
            called(0, "fc_a", "call_a", "first", ""),
            completed(),
        ]),
        Scenario::EmptyCallIds => events([
            call(0, "fc_a", "", "first"),
            called(0, "fc_a", "", "first", "{}"),
            call(1, "fc_b", "", "second"),
            called(1, "fc_b", "", "second", "{}"),
            completed(),
        ]),
        Scenario::UsedCallId => events([
            call(0, "fc_a", USED_CALL_ID, "first"),
            called(0, "fc_a", USED_CALL_ID, "first", "{}"),
            completed(),
        ]),
        _ => events([
            call(0, "fc_a", "call_a", "first"),
            more(0, "fc_a", r#"{\"text\":\"abc"#),
            format!(
                r#"{{"type":"response.incomplete","response":{{"incomplete_details":{{"reason":"max_output_tokens"}},"usage":{}}}}}"#,
                usage()
            ),
        ]),
    }
}

fn refusal(scenario: Scenario) -> Script {
    let error = |status, header: Option<(&'static str, String)>, message: &str| {
        let mut headers = vec![("content-type", "application/json".into()), ("x-request-id", "req-1".into())];
        headers.extend(header);
        let body = format!(r#"{{"error":{{"message":"{message}","type":"error","code":null}}}}"#);
        Script { status: Some(status), headers, pieces: vec![body.into()], close: Close::Clean }
    };
    match scenario {
        Scenario::Unauthorized => error(401, None, &format!("Incorrect API key provided: {KEY}")),
        Scenario::RateLimited => error(429, Some(("retry-after", (WAIT_MS / 1000).to_string())), "slow down"),
        _ => error(500, None, COMPLAINT),
    }
}

/// Cuts the wire in the middle of a character.
fn text() -> Script {
    let mut script = events([created(), said(0, ANSWER), completed()]);
    let answer = script.pieces.remove(1);
    let middle = answer.iter().position(|byte| !byte.is_ascii()).map_or(1, |first| first + 1);
    script.pieces.insert(1, answer.slice(middle..));
    script.pieces.insert(1, answer.slice(..middle));
    script
}

/// Each event with its name, as the service sends it.
fn events<const N: usize>(events: [String; N]) -> Script {
    harness_llm_http::conformance::events(events.map(|data| {
        let name = data.split('"').nth(3).unwrap_or_default();
        format!("event: {name}\ndata: {data}")
    }))
}

fn created() -> String {
    r#"{"type":"response.created","response":{"id":"resp","status":"in_progress","output":[],"usage":null}}"#
        .into()
}

fn completed() -> String {
    format!(r#"{{"type":"response.completed","response":{{"status":"completed","usage":{}}}}}"#, usage())
}

fn usage() -> String {
    format!(r#"{{"input_tokens":{INPUT_TOKENS},"output_tokens":{OUTPUT_TOKENS},"total_tokens":14}}"#)
}

fn said(index: u32, text: &str) -> String {
    format!(
        r#"{{"type":"response.output_text.delta","item_id":"msg","output_index":{index},"content_index":0,"delta":"{text}"}}"#
    )
}

fn partial() -> String {
    said(0, PARTIAL)
}

fn added(index: u32, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.added","output_index":{index},"item":{item}}}"#)
}

fn done(index: u32, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{item}}}"#)
}

fn call(index: u32, id: &str, call_id: &str, name: &str) -> String {
    added(index, &item(id, call_id, name, ""))
}

fn called(index: u32, id: &str, call_id: &str, name: &str, arguments: &str) -> String {
    done(index, &item(id, call_id, name, arguments))
}

fn item(id: &str, call_id: &str, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"type":"function_call","id":"{id}","call_id":"{call_id}","name":"{name}","arguments":"{arguments}"}}"#
    )
}

fn more(index: u32, id: &str, piece: &str) -> String {
    format!(
        r#"{{"type":"response.function_call_arguments.delta","item_id":"{id}","output_index":{index},"delta":"{piece}"}}"#
    )
}
