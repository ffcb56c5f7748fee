//! Golden bodies, and the promise that history never changes its bytes.
#![expect(clippy::unwrap_used, reason = "tests")]
mod support;

use std::sync::Arc;

use harness_llm::{
    Attachment, Block, ContextForm, Message, MessageSource, Request, Role, ToolCallBlock, ToolResultBlock,
    ToolSpec,
};
use harness_llm_chat_completions::{
    Compat, EffortForm, EmptyContent, Encoder, MaxTokensField, ReasoningReplay,
};
use serde_json::{Value, json};
use support::request;

fn reasoning(text: &str) -> Block {
    Block::Reasoning { text: text.into(), replay: None }
}

fn call(id: &str, arguments: &str) -> Block {
    Block::ToolCall(ToolCallBlock { id: id.into(), name: "read".into(), arguments: arguments.into() })
}

fn result(id: &str, content: Vec<Block>) -> Message {
    Message::tool_result(ToolResultBlock { call_id: id.into(), content, is_error: false })
}

/// A session with every kind of content in it.
fn session() -> Request {
    let image = Attachment { content_id: "sha256:ab".into(), media_type: "image/png".into(), bytes: 12 };
    let unknown: Block = serde_json::from_value(json!({"type": "hologram", "beam": 1})).unwrap();
    let mut request = request(vec![
        Message::context("agents-md", ContextForm::Instructions, "Use tabs."),
        Message::new(
            Role::User,
            vec![Block::text("one"), Block::text("two \"quoted\"\n")],
            MessageSource::User,
        ),
        Message::assistant("p", "m", vec![reasoning("think-A"), call("c1", "{ \"a\": 1}"), call("c2", "{}")]),
        result("c1", vec![Block::text("out"), Block::Image(image)]),
        result("c2", vec![]),
        Message::assistant("p", "m", vec![reasoning("think-B"), Block::text("Done.")]),
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
    request.config.stop = vec!["END".into()];
    request
}

fn body(compat: Compat, request: &Request) -> Value {
    serde_json::from_slice(&Encoder::new(compat).encode(request).unwrap()).unwrap()
}

#[test]
fn a_full_request_as_it_goes_out() {
    insta::assert_json_snapshot!("full", body(Compat::default(), &session()));
}

#[test]
fn a_full_request_with_every_setting_turned() {
    let compat = Compat {
        max_tokens_field: Some(MaxTokensField::MaxCompletionTokens),
        reasoning_replay: ReasoningReplay::Always,
        reasoning_required: true,
        effort: EffortForm::Thinking,
        efforts: Some(vec!["low".into()]),
        empty_content: EmptyContent::Null,
        stream_options: false,
        done_optional: true,
    };
    insta::assert_json_snapshot!("turned", body(compat, &session()));
}

#[test]
fn a_bare_request_has_no_empty_fields() {
    let bytes = Encoder::new(Compat::default()).encode(&request(vec![Message::user("hi")])).unwrap();
    assert_eq!(
        std::str::from_utf8(&bytes).unwrap(),
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}"#
    );
    let nothing = Encoder::new(Compat::default()).encode(&request(vec![])).unwrap();
    assert!(nothing.starts_with(br#"{"model":"m","messages":[],"stream""#));
}

#[test]
fn reasoning_goes_back_where_the_setting_says() {
    for (replay, with_calls, without) in [
        (ReasoningReplay::Never, Value::Null, Value::Null),
        (ReasoningReplay::ToolCalls, json!("think-A"), Value::Null),
        (ReasoningReplay::Always, json!("think-A"), json!("think-B")),
    ] {
        let body = body(Compat { reasoning_replay: replay, ..Compat::default() }, &session());
        let messages = &body["messages"];
        assert_eq!(messages[3]["reasoning_content"], with_calls, "{replay:?}");
        assert_eq!(messages[3]["content"], "", "{replay:?}");
        assert_eq!(messages[6]["reasoning_content"], without, "{replay:?}");
        assert_eq!(messages[6]["content"], "Done.");
    }
}

#[test]
fn results_stand_before_the_text_of_their_message() {
    let both = ToolResultBlock { call_id: "c1".into(), content: vec![Block::text("out")], is_error: false };
    let mixed =
        Message::new(Role::User, vec![Block::text("and now?"), Block::ToolResult(both)], MessageSource::User);
    let body = body(Compat::default(), &request(vec![mixed]));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "tool", "tool_call_id": "c1", "content": "out"},
            {"role": "user", "content": "and now?"}
        ])
    );
}

#[test]
fn fields_of_the_provider_s_own_come_last() {
    let extra = json!({"thinking": {"type": "disabled"}});
    let encoder = Encoder::new(Compat::default());
    let bytes = encoder.encode_with(&request(vec![]), extra.as_object().unwrap()).unwrap();
    assert!(bytes.ends_with(br#""stream_options":{"include_usage":true},"thinking":{"type":"disabled"}}"#));
}

/// The text of the `messages` array without its closing bracket, and that of `tools`.
fn parts(bytes: &[u8]) -> (String, String) {
    let text = std::str::from_utf8(bytes).unwrap();
    let messages = text.split_once("\"messages\":[").unwrap().1;
    let (messages, rest) = messages.split_once("],\"tools\":").unwrap();
    (messages.to_owned(), rest.split_once(",\"reasoning_effort\"").unwrap().0.to_owned())
}

#[test]
fn each_request_starts_with_the_whole_of_the_last_one() {
    let whole = session();
    let warm = Encoder::new(Compat { reasoning_replay: ReasoningReplay::ToolCalls, ..Compat::default() });
    let mut last = String::new();
    let mut tools = None;
    for count in 1..=whole.messages.len() {
        let step = Request { messages: whole.messages[..count].to_vec(), ..whole.clone() };
        let bytes = warm.encode(&step).unwrap();
        let cold = Encoder::new(warm.compat().clone());
        assert_eq!(
            bytes,
            cold.encode(&step).unwrap(),
            "what is kept must not differ from what is written anew"
        );
        assert_eq!(bytes, warm.encode(&step).unwrap());
        // As after a resume: equal values in other allocations.
        let copies = step.messages.iter().map(|message| Arc::new(Message::clone(message))).collect();
        assert_eq!(bytes, warm.encode(&Request { messages: copies, ..step.clone() }).unwrap());
        let (messages, its_tools) = parts(&bytes);
        assert!(messages.starts_with(&last), "{messages}\ndoes not start with\n{last}");
        assert_eq!(*tools.get_or_insert_with(|| its_tools.clone()), its_tools);
        last = messages;
    }
}

#[test]
fn empty_reasoning_goes_with_calls_where_a_server_demands_the_field() {
    let request = request(vec![
        Message::assistant("p", "m", vec![call("c1", "{}")]),
        Message::assistant("p", "m", vec![Block::text("a")]),
    ]);
    let compat =
        Compat { reasoning_replay: ReasoningReplay::Always, reasoning_required: true, ..Compat::default() };
    let body = body(compat, &request);
    assert_eq!(body["messages"][0]["reasoning_content"], "");
    assert_eq!(body["messages"][1].get("reasoning_content"), None);
}

#[test]
fn effort_words_are_checked_against_what_the_server_knows() {
    let any = Compat::default();
    any.check_effort(Some("extreme")).unwrap();
    let some = Compat { efforts: Some(vec!["low".into(), "high".into()]), ..Compat::default() };
    for word in [None, Some("off"), Some("high")] {
        some.check_effort(word).unwrap();
    }
    let refused = some.check_effort(Some("medium")).unwrap_err();
    assert_eq!(refused.0.message, "reasoning effort `medium` is not known here; use off, low, high");
}
