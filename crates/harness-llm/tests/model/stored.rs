//! The stored form of every variant. A change here changes logs that are on people's disks.
use std::fmt::Debug;

use harness_llm::{
    Attachment, Block, BlockKind, CallConfig, ContextForm, Failure, FailureCode, Finish, FinishReason,
    Message, MessageSource, ModelInfo, Purpose, Role, ToolCallBlock, ToolResultBlock, ToolSpec, Usage,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::chunks::unknown;

/// One line a value, each of which reads back as it was.
fn stored<T: Serialize + DeserializeOwned + PartialEq + Debug>(values: &[T]) -> String {
    let line = |value: &T| {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
        text
    };
    values.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn call() -> ToolCallBlock {
    ToolCallBlock { id: "c1".into(), name: "read".into(), arguments: "{\"a\": 1}".into() }
}

#[test]
fn blocks() {
    let attachment = Attachment { content_id: "sha256:00".into(), media_type: "image/png".into(), bytes: 12 };
    let result = |is_error| ToolResultBlock {
        call_id: "c1".into(),
        content: vec![Block::text("a"), Block::Image(attachment.clone())],
        is_error,
    };
    insta::assert_snapshot!(stored(&[
        Block::text("a \"quoted\" text"),
        Block::Reasoning { text: "r".into(), replay: None },
        Block::Reasoning { text: "r".into(), replay: Some(json!({ "signature": "s" })) },
        Block::Image(attachment.clone()),
        Block::ToolCall(call()),
        Block::ToolResult(result(false)),
        Block::ToolResult(result(true)),
        unknown("chart"),
    ]));
}

#[test]
fn block_kinds() {
    insta::assert_snapshot!(stored(&[
        BlockKind::Text,
        BlockKind::Reasoning,
        Block::ToolCall(call()).kind(),
        unknown("chart").kind(),
    ]));
}

#[test]
fn messages() {
    let id = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
    let message = |role, source| Message { id, role, content: vec![Block::text("t")], source };
    let plugin = |form| MessageSource::Plugin { plugin: "lint".into(), form };
    let model = |replay_state| MessageSource::Model { provider: "p".into(), model: "m".into(), replay_state };
    let mut messages = vec![
        message(Role::System, plugin(None)),
        message(Role::User, MessageSource::User),
        message(Role::User, MessageSource::Tool { call_id: "c1".into() }),
        message(Role::Assistant, model(None)),
        message(Role::Assistant, model(Some(json!(["opaque"])))),
        message(Role::User, serde_json::from_value(json!({ "kind": "satellite" })).unwrap()),
    ];
    let forms = [
        ContextForm::Instructions,
        ContextForm::Catalog,
        ContextForm::Snapshot,
        ContextForm::Notice,
        ContextForm::Relay,
        ContextForm::Recall,
    ];
    messages.extend(forms.map(|form| message(Role::User, plugin(Some(form)))));
    insta::assert_snapshot!(stored(&messages));
}

fn every_failure() -> Vec<Failure> {
    let codes = [
        FailureCode::ABORTED,
        FailureCode::AUTH,
        FailureCode::MISSING_CREDENTIAL,
        FailureCode::INVALID_ENDPOINT,
        FailureCode::UNKNOWN_PROVIDER,
        FailureCode::UNKNOWN_MODEL,
        FailureCode::INVALID_REQUEST,
        FailureCode::CONTEXT_WINDOW_EXCEEDED,
        FailureCode::QUOTA,
        FailureCode::RATE_LIMIT,
        FailureCode::SERVER,
        FailureCode::TIMEOUT,
        FailureCode::TRANSPORT,
        FailureCode::STREAM_CLOSED,
        FailureCode::MALFORMED_RESPONSE,
        FailureCode::EMPTY_RESPONSE,
        FailureCode::CONTENT_FILTER,
        FailureCode::PROTOCOL_VIOLATION,
        FailureCode::REQUEST_NOT_LOGGED,
        FailureCode::LISTENER_PANICKED,
        FailureCode::other("HTTP_418"),
    ];
    codes.map(|code| Failure::new(code, "m")).to_vec()
}

#[test]
fn failures() {
    let mut failures = every_failure();
    failures.push(Failure {
        status: Some(429),
        retry_after_ms: Some(1500),
        request_id: Some("r-1".into()),
        ..Failure::new(FailureCode::RATE_LIMIT, "slow down")
    });
    insta::assert_snapshot!(stored(&failures));
}

#[test]
fn finishes() {
    let failure = Failure::new(FailureCode::TRANSPORT, "reset");
    let mut finishes: Vec<Finish> = [
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::MaxTokens,
        FinishReason::Aborted { failure: Failure::aborted() },
        FinishReason::Error { failure },
    ]
    .map(Finish::from)
    .to_vec();
    finishes.push(Finish { reason: FinishReason::Stop, replay_state: Some(json!({ "id": 1 })) });
    insta::assert_snapshot!(stored(&finishes));
}

#[test]
fn usages() {
    insta::assert_snapshot!(stored(&[
        Usage::default(),
        Usage { input: 1, output: 2, cache_read: Some(3), cache_write: Some(4), reasoning: Some(5) },
    ]));
}

#[test]
fn request_parts() {
    let plain = CallConfig { provider: "p".into(), model: "m".into(), ..CallConfig::default() };
    let full = CallConfig {
        reasoning_effort: Some("high".into()),
        temperature: Some(0.5),
        max_tokens: Some(100),
        stop: vec!["END".into()],
        ..plain.clone()
    };
    let spec = ToolSpec {
        name: "read".into(),
        description: "Reads.".into(),
        parameters: json!({ "type": "object", "properties": {} }),
    };
    let info = ModelInfo { model: "m".into(), context_window: Some(1000), max_output: None };
    let lines = [
        stored(&[plain, full]),
        stored(&[spec]),
        stored(&[info]),
        stored(&[Purpose::Step, Purpose::Compaction, Purpose::Title]),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}
