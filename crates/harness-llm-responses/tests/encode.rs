//! Golden bodies, and the promise that history never changes its bytes.
#![expect(clippy::unwrap_used, reason = "tests")]
mod support;

use std::sync::Arc;

use harness_llm::{
    Block, ContextForm, Message, MessageSource, Request, Role, ToolCallBlock, ToolResultBlock, ToolSpec,
};
use harness_llm_http::Protocol;
use harness_llm_responses::{Encoder, Responses, ResponsesCompat};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use support::request;

fn reasoning(text: &str, replay: Option<Value>) -> Block {
    Block::Reasoning { text: text.into(), replay }
}

fn call(id: &str, arguments: &str) -> Block {
    Block::ToolCall(ToolCallBlock { id: id.into(), name: "read".into(), arguments: arguments.into() })
}

fn result(id: &str, content: Vec<Block>) -> Message {
    Message::tool_result(ToolResultBlock { call_id: id.into(), content, is_error: false })
}

/// A session with every kind of content in it.
fn session() -> Request {
    let unknown: Block = serde_json::from_value(json!({"type": "hologram", "beam": 1})).unwrap();
    let kept = json!({"id": "rs_1", "encrypted_content": "gAAA"});
    let parts =
        [json!({"type": "summary_text", "text": "one"}), json!({"type": "summary_text", "text": "two"})];
    let in_parts = json!({"summary": parts, "encrypted_content": "gBBB"});
    let mut request = request(vec![
        Message::context("agents-md", ContextForm::Instructions, "Use tabs."),
        Message::new(
            Role::User,
            vec![Block::text("one"), Block::text("two \"quoted\"\n")],
            MessageSource::User,
        ),
        Message::assistant(
            "p",
            "m",
            vec![reasoning("think-A", Some(kept.clone())), call("c1", "{ \"a\": 1}"), call("c2", "{}")],
        ),
        result("c1", vec![Block::text("out")]),
        result("c2", vec![]),
        Message::assistant(
            "p",
            "m",
            vec![reasoning("one\n\ntwo", Some(in_parts)), reasoning("bare", None), Block::text("Done.")],
        ),
        Message::assistant("p", "another", vec![reasoning("think-C", Some(kept)), Block::text("Mine.")]),
        Message::new(Role::User, vec![unknown], MessageSource::User),
    ]);
    request.system = Some("You help.".into());
    request.tools = [ToolSpec {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    }]
    .into();
    request.config.temperature = Some(0.5);
    request.config.max_tokens = Some(1000);
    request.config.reasoning_effort = Some("low".into());
    request
}

fn encode(encoder: &Encoder, request: &Request) -> String {
    let bytes = encoder.encode_with(request, &Map::new()).unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_full_request_as_it_goes_out() {
    let body: Value =
        serde_json::from_str(&encode(&Encoder::new(ResponsesCompat::default()), &session())).unwrap();
    insta::assert_json_snapshot!("full", body);
}

#[test]
fn a_bare_request_has_no_empty_fields() {
    let compat = ResponsesCompat { encrypted_reasoning: false };
    assert_eq!(
        encode(&Encoder::new(compat), &request(vec![Message::user("hi")])),
        concat!(
            r#"{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],"#,
            r#""store":false,"stream":true}"#
        )
    );
}

#[test]
fn effort_words_are_checked_and_off_is_none() {
    let protocol = Responses::new(ResponsesCompat::default());
    let mut request = request(vec![]);
    request.config.reasoning_effort = Some("off".into());
    protocol.check(&request.config).unwrap();
    assert_eq!(protocol.fields(&request)["reasoning"], json!({"effort": "none"}));
    request.config.reasoning_effort = Some("much".into());
    let refused = protocol.check(&request.config).unwrap_err();
    assert!(refused.0.message.contains("`much`") && refused.0.message.contains("xhigh"), "{refused}");
    request.config.reasoning_effort = None;
    request.config.stop = vec!["END".into()];
    assert_eq!(protocol.check(&request.config).unwrap_err().code(), "INVALID_REQUEST");
}

/// The `input` array without its closing bracket.
fn input(body: &str) -> String {
    let input = body.split_once("\"input\":[").unwrap().1;
    let end = ["],\"tools\":", "],\"reasoning\":", "],\"include\":"]
        .iter()
        .filter_map(|mark| input.find(mark))
        .min();
    input[..end.unwrap()].to_owned()
}

#[test]
fn reasoning_goes_back_to_the_model_that_made_it_whatever_was_kept_before() {
    let encoder = Encoder::new(ResponsesCompat::default());
    let own = encode(&encoder, &session());
    let mut request = session();
    request.config.model = "another".into();
    let other = encode(&encoder, &request);
    assert!(own.contains("gBBB") && own.matches("gAAA").count() == 1, "{own}");
    assert!(!other.contains("gBBB") && other.matches("gAAA").count() == 1, "{other}");
    assert_eq!(encode(&encoder, &session()), own);
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        "[a-z\"\\\\é]{0,6}".prop_map(Block::text),
        "[a-z]{0,4}".prop_map(|text| reasoning(&text, Some(json!({"encrypted_content": "g"})))),
        "[a-z]{1,3}".prop_map(|id| call(&id, "{")),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        prop::collection::vec(block(), 0..4).prop_map(|content| Message::assistant("p", "m", content)),
        "[a-z ]{0,6}".prop_map(Message::user),
        "[a-z]{1,3}".prop_map(|id| result(&id, vec![Block::text("out")])),
    ]
}

proptest! {
    #[test]
    fn each_request_starts_with_the_whole_of_the_last_one(messages in prop::collection::vec(message(), 1..8)) {
        let warm = Encoder::new(ResponsesCompat::default());
        let whole = request(messages);
        let mut last = String::new();
        for count in 1..=whole.messages.len() {
            let step = Request { messages: whole.messages[..count].to_vec(), ..whole.clone() };
            let body = encode(&warm, &step);
            prop_assert!(serde_json::from_str::<Value>(&body).is_ok());
            prop_assert_eq!(&body, &encode(&Encoder::new(ResponsesCompat::default()), &step));
            // As after a resume: equal values in other allocations.
            let copies = step.messages.iter().map(|message| Arc::new(Message::clone(message))).collect();
            prop_assert_eq!(&body, &encode(&warm, &Request { messages: copies, ..step.clone() }));
            let input = input(&body);
            prop_assert!(input.starts_with(&last), "{}\ndoes not start with\n{}", input, last);
            last = input;
        }
    }
}
