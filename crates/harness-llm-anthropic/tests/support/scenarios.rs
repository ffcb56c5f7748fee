//! The conformance scenarios in this format.
use bytes::Bytes;
use harness_llm_http::conformance::{
    ANSWER, COMPLAINT, Close, INPUT_TOKENS, KEY, LONG_ANSWER, OUTPUT_TOKENS, PARTIAL, REASONING, Scenario,
    Script, USED_CALL_ID, WAIT_MS,
};

/// What a server sends in `scenario`; `None` where there is no server.
pub(crate) fn messages(scenario: Scenario) -> Option<Script> {
    Some(match scenario {
        Scenario::Text => text(),
        Scenario::Reasoning => {
            let (head, tail) = REASONING.split_at(8);
            let delta = |piece: &str| delta(0, &format!(r#"{{"type":"thinking_delta","thinking":"{piece}"}}"#));
            events([
                start(),
                block(0, r#"{"type":"thinking","thinking":"","signature":""}"#),
                delta(head),
                delta(tail),
                self::delta(0, r#"{"type":"signature_delta","signature":"sig"}"#),
                stop(0),
                block(1, r#"{"type":"text","text":""}"#),
                said(1, ANSWER),
                stop(1),
                last("end_turn"),
                over(),
            ])
        }
        Scenario::ParallelCalls
        | Scenario::UnnumberedCalls
        | Scenario::EmptyArguments
        | Scenario::EmptyCallIds
        | Scenario::UsedCallId
        | Scenario::CutAtLimit => calls(scenario),
        Scenario::ClosedEarly => events([start(), opened(), said(0, PARTIAL)]),
        Scenario::CutInsideEvent => {
            let mut script = events([start(), opened(), said(0, PARTIAL)]);
            script.pieces.push(Bytes::from_static(b"event: content_block_delta\ndata: {\"type\":\"conte"));
            script
        }
        Scenario::Reset => Script { close: Close::Reset, ..events([start(), opened(), said(0, PARTIAL)]) },
        Scenario::HeadersOnly => events([]),
        Scenario::ErrorInStream => events([
            start(),
            opened(),
            said(0, PARTIAL),
            format!(r#"{{"type":"error","error":{{"type":"overloaded_error","message":"{COMPLAINT}"}}}}"#),
        ]),
        Scenario::MalformedEvent => events([start(), opened(), r#"{"type":"content_block_delta","#.into()]),
        Scenario::EmptyAnswer => events([start(), last("end_turn"), over()]),
        Scenario::UnknownEvents => events([
            start(),
            r#"{"type":"ping"}"#.into(),
            r#"{"type":"moon_phase","delta":[1],"content_block":7}"#.into(),
            block(0, r#"{"type":"server_tool_use","id":"srv","name":"web_search","input":{}}"#),
            delta(0, r#"{"type":"input_json_delta","partial_json":"{}"}"#),
            stop(0),
            block(1, r#"{"type":"text","text":"","citations":null}"#),
            delta(1, r#"{"type":"citations_delta","citation":{"x":1}}"#),
            said(1, ANSWER),
            stop(1),
            last("end_turn"),
            over(),
        ]),
        Scenario::LoneSurrogate => events([
            start(),
            opened(),
            said(0, r"half \ud83d"),
            said(0, " done"),
            stop(0),
            last("end_turn"),
            over(),
        ]),
        Scenario::LongLine => {
            let long = said(0, &"x".repeat(LONG_ANSWER));
            events([start(), opened(), long, stop(0), last("end_turn"), over()])
        }
        Scenario::NoUsage => events([
            r#"{"type":"message_start","message":{"usage":null}}"#.into(),
            opened(),
            said(0, ANSWER),
            stop(0),
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":null}}"#.into(),
            over(),
        ]),
        Scenario::OddUsage => events([
            r#"{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}"#.into(),
            opened(),
            format!(r#"{{"type":"message_delta","delta":{{}},"usage":{{"input_tokens":{INPUT_TOKENS},"output_tokens":2}}}}"#),
            said(0, ANSWER),
            stop(0),
            last("end_turn"),
            r#"{"type":"message_delta","delta":{},"usage":null}"#.into(),
            over(),
        ]),
        Scenario::Unauthorized | Scenario::RateLimited | Scenario::ServerError => refusal(scenario),
        Scenario::Refused => return None,
        Scenario::Silent | Scenario::Cancelled => {
            Script { close: Close::Never, ..events([start(), opened(), said(0, PARTIAL)]) }
        }
        Scenario::SilentFromTheStart | Scenario::CancelledBeforeTheHead => {
            Script { status: None, headers: vec![], pieces: vec![], close: Close::Never }
        }
    })
}

fn calls(scenario: Scenario) -> Script {
    match scenario {
        Scenario::ParallelCalls => events([
            start(),
            call(0, "call_a", "first"),
            call(1, "call_b", "second"),
            more(0, r#"{\"n\""#),
            more(1, r#"{\"n\":2}"#),
            more(0, ":1}"),
            stop(0),
            stop(1),
            last("tool_use"),
            over(),
        ]),
        Scenario::UnnumberedCalls => events([
            start(),
            call(0, "call_a", "first"),
            more(0, r#"{\"n\":1}"#),
            stop(0),
            r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":"call_b","name":"second"}}"#.into(),
            r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"n\":2}"}}"#.into(),
            last("tool_use"),
            over(),
        ]),
        Scenario::EmptyArguments => {
            events([start(), call(0, "call_a", "first"), stop(0), last("tool_use"), over()])
        }
        Scenario::EmptyCallIds => events([
            start(),
            call(0, "", "first"),
            stop(0),
            call(1, "", "second"),
            stop(1),
            last("tool_use"),
            over(),
        ]),
        Scenario::UsedCallId => {
            events([start(), call(0, USED_CALL_ID, "first"), stop(0), last("tool_use"), over()])
        }
        _ => events([
            start(),
            call(0, "call_a", "first"),
            more(0, r#"{\"text\":\"abc"#),
            last("max_tokens"),
            over(),
        ]),
    }
}

fn refusal(scenario: Scenario) -> Script {
    let error = |status, kind: &str, header: Option<(&'static str, String)>, message: &str| {
        let mut headers = vec![("content-type", "application/json".into()), ("request-id", "req-1".into())];
        headers.extend(header);
        let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}}}}"#);
        Script { status: Some(status), headers, pieces: vec![body.into()], close: Close::Clean }
    };
    match scenario {
        Scenario::Unauthorized => {
            error(401, "authentication_error", None, &format!("invalid x-api-key: {KEY}"))
        }
        Scenario::RateLimited => {
            error(429, "rate_limit_error", Some(("retry-after", (WAIT_MS / 1000).to_string())), "slow down")
        }
        _ => error(500, "api_error", None, COMPLAINT),
    }
}

/// Cuts the wire in the middle of a character.
fn text() -> Script {
    let mut script = events([start(), opened(), said(0, ANSWER), stop(0), last("end_turn"), over()]);
    let answer = script.pieces.remove(2);
    let middle = answer.iter().position(|byte| !byte.is_ascii()).map_or(1, |first| first + 1);
    script.pieces.insert(2, answer.slice(middle..));
    script.pieces.insert(2, answer.slice(..middle));
    script
}

/// Each event with its name, as the service sends it.
fn events<const N: usize>(events: [String; N]) -> Script {
    harness_llm_http::conformance::events(events.map(|data| {
        let name = data.split('"').nth(3).unwrap_or_default();
        format!("event: {name}\ndata: {data}")
    }))
}

fn start() -> String {
    format!(
        r#"{{"type":"message_start","message":{{"id":"msg","role":"assistant","content":[],"usage":{{"input_tokens":{INPUT_TOKENS},"output_tokens":1}}}}}}"#
    )
}

fn block(index: u32, block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
}

fn opened() -> String {
    block(0, r#"{"type":"text","text":""}"#)
}

fn call(index: u32, id: &str, name: &str) -> String {
    block(index, &format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#))
}

fn delta(index: u32, delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
}

fn said(index: u32, text: &str) -> String {
    delta(index, &format!(r#"{{"type":"text_delta","text":"{text}"}}"#))
}

fn more(index: u32, piece: &str) -> String {
    delta(index, &format!(r#"{{"type":"input_json_delta","partial_json":"{piece}"}}"#))
}

fn stop(index: u32) -> String {
    format!(r#"{{"type":"content_block_stop","index":{index}}}"#)
}

fn last(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":{OUTPUT_TOKENS}}}}}"#
    )
}

fn over() -> String {
    r#"{"type":"message_stop"}"#.into()
}
