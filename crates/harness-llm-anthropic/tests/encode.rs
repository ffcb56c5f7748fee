//! Golden bodies, legal bodies, and the promise that history never changes its bytes.
#![expect(clippy::unwrap_used, reason = "tests")]
mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use harness_llm::{
    Block, CacheOptions, CacheRetention, ContextForm, Message, MessageSource, ModelInfo, Request,
    RequestOptions, Role, ToolCallBlock, ToolResultBlock, ToolSpec,
};
use harness_llm_anthropic::{Encoder, Messages};
use harness_llm_http::Protocol;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use support::request;

fn reasoning(text: &str, replay: Option<Value>) -> Block {
    Block::Reasoning { text: text.into(), replay }
}

fn call(id: &str, arguments: &str) -> Block {
    Block::ToolCall(ToolCallBlock { id: id.into(), name: "read".into(), arguments: arguments.into() })
}

fn result(id: &str, content: Vec<Block>, is_error: bool) -> Message {
    Message::tool_result(ToolResultBlock { call_id: id.into(), content, is_error })
}

/// A session with every kind of content in it.
fn session() -> Request {
    let unknown: Block = serde_json::from_value(json!({"type": "hologram", "beam": 1})).unwrap();
    let mut request = request(vec![
        Message::context("agents-md", ContextForm::Instructions, "Use tabs."),
        Message::user("one"),
        Message::assistant(
            "p",
            "m",
            vec![
                reasoning("think-A", Some(json!({"signature": "sig-A"}))),
                reasoning("", Some(json!({"redacted": "EmwK"}))),
                call("c1", "{ \"a\": 1}"),
                call("c:2", "[1]"),
                call("c3", ""),
            ],
        ),
        result("c1", vec![Block::text("out")], false),
        result("c:2", vec![], true),
        result("c3", vec![Block::text("no")], true),
        Message::user("and then?"),
        Message::assistant("p", "m", vec![reasoning("bare", None), Block::text("Done."), Block::text(" ")]),
        Message::new(Role::User, vec![unknown], MessageSource::User),
        Message::assistant(
            "p",
            "another",
            vec![reasoning("think-B", Some(json!({"signature": "sig-B"}))), Block::text("Mine.")],
        ),
        Message::user("three"),
    ]);
    request.system = Some("You help.".into());
    request.tools = [ToolSpec {
        name: "read".into(),
        description: "Reads a file.".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    }]
    .into();
    request
}

fn encode(encoder: &Encoder, request: &Request) -> String {
    let bytes = encoder.encode_with(request, &Map::new()).unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn body(request: &Request) -> Value {
    serde_json::from_str(&encode(&Encoder::new(vec![]), request)).unwrap()
}

#[test]
fn a_full_request_as_it_goes_out() {
    let mut request = session();
    request.config.max_tokens = Some(16_000);
    request.config.reasoning_effort = Some("low".into());
    request.config.stop = vec!["END".into()];
    insta::assert_json_snapshot!("full", body(&request));
}

#[test]
fn a_bare_request_has_no_empty_fields() {
    assert_eq!(
        encode(&Encoder::new(vec![]), &request(vec![Message::user("hi")])),
        concat!(
            r#"{"model":"m","max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"#,
            r#""stream":true,"cache_control":{"type":"ephemeral"}}"#
        )
    );
    let known = ModelInfo { model: "m".into(), context_window: None, max_output: Some(64_000) };
    assert!(encode(&Encoder::new(vec![known]), &request(vec![])).contains(r#""max_tokens":64000"#));
}

#[test]
fn adaptive_thinking_is_asked_for_by_an_effort() {
    let mut request = request(vec![Message::user("hi")]);
    request.config.model = "claude-opus-4-8".into();
    request.config.reasoning_effort = Some("xhigh".into());
    let body = body(&request);
    assert_eq!(body["thinking"], json!({"type": "adaptive"}));
    assert_eq!(body["output_config"], json!({"effort": "xhigh"}));
}

#[test]
fn a_longer_cache_is_asked_for_at_both_markers() {
    let protocol = Messages::new(vec![]);
    let mut options = RequestOptions::default();
    options.cache = Some(CacheOptions { key: Some("k".into()), retention: CacheRetention::Long });
    options.metadata.insert("user_id".into(), "u".into());
    let fields = protocol.option_fields(&options).unwrap();
    let body: Value = serde_json::from_slice(&protocol.encode(&session(), &fields).unwrap()).unwrap();
    let marker = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(body["system"][0]["cache_control"], marker);
    assert_eq!(body["cache_control"], marker);
    assert_eq!(body["metadata"], json!({"user_id": "u"}));
    options.metadata.insert("run".into(), "7".into());
    assert!(protocol.option_fields(&options).unwrap_err().0.message.contains("`run`"));
}

#[test]
fn a_history_that_starts_with_the_assistant_gets_an_opening() {
    let body = body(&request(vec![Message::assistant("p", "m", vec![Block::text("a")]), Message::user("b")]));
    let roles: Vec<_> = body["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        "[a-z\"\\\\é ]{0,6}".prop_map(Block::text),
        "[a-z]{0,4}".prop_map(|text| reasoning(&text, Some(json!({"signature": "g"})))),
        "[a-z]{0,4}".prop_map(|text| reasoning(&text, None)),
    ]
}

/// A stretch of history as the loop makes it: calls are answered by the messages right after them.
fn stretch() -> impl Strategy<Value = Vec<Message>> {
    let said = prop::collection::vec(block(), 0..4);
    let calls = prop::collection::vec("[a-z{}:\"]{0,6}", 0..3);
    let between = prop::option::of("[a-z ]{0,6}");
    prop_oneof![
        "[a-z ]{0,6}".prop_map(|text| vec![Message::user(text)]),
        (said, calls, between).prop_map(|(mut content, arguments, between)| {
            let ids: Vec<_> = arguments.iter().map(|_| format!("call:{}", uuid())).collect();
            content.extend(ids.iter().zip(&arguments).map(|(id, arguments)| call(id, arguments)));
            let mut messages = vec![Message::assistant("p", "m", content)];
            // What a person said meanwhile stands before the results.
            messages.extend(between.map(Message::user));
            messages.extend(ids.iter().map(|id| result(id, vec![Block::text("out")], false)));
            messages
        }),
    ]
}

fn uuid() -> String {
    Message::user("").id.to_string()
}

/// Panics unless the service would take the history.
fn check_legal(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    let mut open = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        assert_eq!(message["role"], if at % 2 == 0 { "user" } else { "assistant" }, "{body}");
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty(), "{body}");
        let (mut is_past_results, mut answered) = (false, BTreeSet::new());
        for block in blocks {
            match block["type"].as_str().unwrap() {
                "tool_result" => {
                    assert!(!is_past_results, "a result stands after other content: {body}");
                    answered.insert(block["tool_use_id"].as_str().unwrap().to_owned());
                }
                "tool_use" => {
                    let id = block["id"].as_str().unwrap();
                    assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{id}");
                    assert!(block["input"].is_object(), "{body}");
                    open.insert(id.to_owned());
                }
                "text" => assert!(!block["text"].as_str().unwrap().trim().is_empty(), "{body}"),
                _ => {}
            }
            is_past_results |= block["type"] != "tool_result";
        }
        if message["role"] == "user" {
            assert_eq!(answered, std::mem::take(&mut open), "{body}");
        }
    }
}

/// The blocks of the history as they stand in the body, without the ends of its last message.
fn history(body: &str) -> String {
    let messages = body.split_once("\"messages\":[").unwrap().1;
    messages.split_once("],\"stream\":").unwrap().0.trim_end_matches("]}").to_owned()
}

proptest! {
    #[test]
    fn every_history_is_legal_and_starts_with_the_whole_of_the_last_one(
        stretches in prop::collection::vec(stretch(), 1..6),
    ) {
        let warm = Encoder::new(vec![]);
        let mut last = String::new();
        let mut messages = Vec::new();
        for stretch in stretches {
            messages.extend(stretch);
            let step = request(messages.clone());
            let text = encode(&warm, &step);
            check_legal(&serde_json::from_str(&text).unwrap());
            prop_assert_eq!(&text, &encode(&Encoder::new(vec![]), &step));
            // As after a resume: equal values in other allocations.
            let copies = step.messages.iter().map(|message| Arc::new(Message::clone(message))).collect();
            prop_assert_eq!(&text, &encode(&warm, &Request { messages: copies, ..step.clone() }));
            let history = history(&text);
            prop_assert!(history.starts_with(&last), "{}\ndoes not start with\n{}", history, last);
            last = history;
        }
    }
}
