//! The scenarios in the chat completions format.
use bytes::Bytes;

use harness_llm_http::conformance::{
    ANSWER, COMPLAINT, Close, INPUT_TOKENS, KEY, LONG_ANSWER, OUTPUT_TOKENS, PARTIAL, REASONING, Scenario,
    Script, USED_CALL_ID, WAIT_MS,
};

/// What a server sends in `scenario`; `None` where there is no server.
pub fn chat_completions(scenario: Scenario) -> Option<Script> {
    let partial = || delta(&format!(r#"{{"content":"{PARTIAL}"}}"#));
    Some(match scenario {
        Scenario::Text => text(),
        Scenario::Reasoning => {
            let (head, tail) = REASONING.split_at(8);
            events([
                delta(r#"{"role":"assistant","content":null,"reasoning_content":""}"#),
                delta(&format!(r#"{{"reasoning_content":"{head}"}}"#)),
                delta(&format!(r#"{{"reasoning_content":"{tail}"}}"#)),
                delta(&format!(r#"{{"content":"{ANSWER}"}}"#)),
                finish("stop"),
                usage(),
                DONE.into(),
            ])
        }
        Scenario::ParallelCalls => events([
            call(0, "call_a", "first", r#"{\"n\""#),
            call(1, "call_b", "second", ""),
            more(1, r#"{\"n\":2}"#),
            more(0, ":1}"),
            finish("tool_calls"),
            usage(),
            DONE.into(),
        ]),
        Scenario::UnnumberedCalls => events([
            call(0, "call_a", "first", ""),
            more(0, r#"{\"n\":1}"#),
            call(0, "call_b", "second", r#"{\"n\""#),
            delta(r#"{"tool_calls":[{"function":{"arguments":":2}"}}]}"#),
            finish("tool_calls"),
            DONE.into(),
        ]),
        Scenario::EmptyArguments => events([call(0, "call_a", "first", ""), finish("tool_calls"), DONE.into()]),
        Scenario::EmptyCallIds => events([
            call(0, "", "first", "{}"),
            call(1, "", "second", "{}"),
            finish("tool_calls"),
            DONE.into(),
        ]),
        Scenario::UsedCallId => {
            events([call(0, USED_CALL_ID, "first", "{}"), finish("tool_calls"), DONE.into()])
        }
        Scenario::CutAtLimit => {
            events([call(0, "call_a", "first", r#"{\"text\":\"abc"#), finish("length"), usage(), DONE.into()])
        }
        Scenario::ClosedEarly => events([partial()]),
        Scenario::CutInsideEvent => {
            let mut script = events([partial()]);
            script.pieces.push(Bytes::from_static(b"data: {\"choices\":[{\"del"));
            script
        }
        Scenario::Reset => Script { close: Close::Reset, ..events([partial()]) },
        Scenario::HeadersOnly => events([]),
        Scenario::ErrorInStream => events([partial(), complaint(), DONE.into()]),
        Scenario::MalformedEvent => events([partial(), r#"{"choices":[{"#.into()]),
        Scenario::EmptyAnswer => events([finish("stop"), usage(), DONE.into()]),
        Scenario::UnknownEvents => events([
            r#"{"choices":[],"prompt_filter_results":[{"x":[1,null,{"y":true}]}]}"#.into(),
            format!(
                r#"{{"odd":1,"choices":[{{"index":0,"logprobs":{{"content":[]}},"delta":{{"content":"{ANSWER}","x":null}}}}]}}"#
            ),
            r#"{"choices":[{"index":1,"delta":{"content":"another answer"}}]}"#.into(),
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop","matched_stop":2}]}"#.into(),
            usage(),
            DONE.into(),
        ]),
        Scenario::LoneSurrogate => events([
            delta(r#"{"content":"half \ud83d"}"#),
            delta(r#"{"content":" done"}"#),
            finish("stop"),
            DONE.into(),
        ]),
        Scenario::LongLine => {
            let text = "x".repeat(LONG_ANSWER);
            events([delta(&format!(r#"{{"content":"{text}"}}"#)), finish("stop"), DONE.into()])
        }
        Scenario::NoUsage => events([
            delta(&format!(r#"{{"content":"{ANSWER}"}}"#)),
            finish("stop"),
            r#"{"choices":[],"usage":null}"#.into(),
            r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}"#.into(),
            DONE.into(),
        ]),
        Scenario::OddUsage => events([
            r#"{"choices":[{"index":0,"delta":{"role":"assistant"}}],"usage":{"prompt_tokens":11,"completion_tokens":0}}"#
                .into(),
            delta(&format!(r#"{{"content":"{ANSWER}"}}"#)),
            finish("stop"),
            usage(),
            r#"{"choices":[],"usage":null}"#.into(),
            DONE.into(),
        ]),
        Scenario::Unauthorized | Scenario::RateLimited | Scenario::ServerError => refusal(scenario),
        Scenario::Refused => return None,
        Scenario::Silent | Scenario::Cancelled => Script { close: Close::Never, ..events([partial()]) },
        Scenario::SilentFromTheStart | Scenario::CancelledBeforeTheHead => {
            Script { status: None, headers: vec![], pieces: vec![], close: Close::Never }
        }
    })
}

fn refusal(scenario: Scenario) -> Script {
    match scenario {
        Scenario::Unauthorized => {
            error(401, None, &format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#))
        }
        Scenario::RateLimited => error(
            429,
            Some(("retry-after", (WAIT_MS / 1000).to_string())),
            r#"{"error":{"message":"slow down"}}"#,
        ),
        _ => error(500, None, &complaint()),
    }
}

const DONE: &str = "[DONE]";

/// Cuts the wire in the middle of a character.
fn text() -> Script {
    let mut script = events([
        delta(r#"{"role":"assistant","content":""}"#),
        delta(&format!(r#"{{"content":"{ANSWER}"}}"#)),
        finish("stop"),
        usage(),
        DONE.into(),
    ]);
    let answer = script.pieces.remove(1);
    let middle = answer.iter().position(|byte| !byte.is_ascii()).map_or(1, |first| first + 1);
    script.pieces.insert(1, answer.slice(middle..));
    script.pieces.insert(1, answer.slice(..middle));
    script
}

fn events<const N: usize>(events: [String; N]) -> Script {
    harness_llm_http::conformance::events(events.map(|data| format!("data: {data}")))
}

fn error(status: u16, header: Option<(&'static str, String)>, body: &str) -> Script {
    let mut headers = vec![("content-type", "application/json".into()), ("x-request-id", "req-1".into())];
    headers.extend(header);
    Script { status: Some(status), headers, pieces: vec![body.to_owned().into()], close: Close::Clean }
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
}

fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

fn usage() -> String {
    format!(
        r#"{{"choices":[],"usage":{{"prompt_tokens":{INPUT_TOKENS},"completion_tokens":{OUTPUT_TOKENS}}}}}"#
    )
}

fn complaint() -> String {
    format!(r#"{{"error":{{"message":"{COMPLAINT}","code":500}}}}"#)
}

fn call(index: u32, id: &str, name: &str, arguments: &str) -> String {
    delta(&format!(
        r#"{{"tool_calls":[{{"index":{index},"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}]}}"#
    ))
}

fn more(index: u32, arguments: &str) -> String {
    delta(&format!(r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":"{arguments}"}}}}]}}"#))
}
