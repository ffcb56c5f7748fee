//! Golden bodies, by model.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use harness_llm::{Block, CallConfig, LlmAdapter, Message, Purpose, Request, ToolCallBlock, ToolResultBlock};
use harness_llm_deepseek::{DeepSeekRoute, adapter};
use harness_llm_http::RouteConfig;

fn reasoning(text: &str) -> Block {
    Block::Reasoning { text: text.into(), replay: None }
}

fn call(id: &str) -> Block {
    Block::ToolCall(ToolCallBlock { id: id.into(), name: "read".into(), arguments: "{}".into() })
}

/// Two turns: one with two calls, the second of them without reasoning, and one without any.
fn session(model: &str, effort: Option<&str>) -> Request {
    let result = |id: &str, content| {
        Message::tool_result(ToolResultBlock { call_id: id.into(), content, is_error: false })
    };
    let said = |content| Message::assistant("deepseek", model, content);
    let messages = [
        Message::user("one"),
        said(vec![reasoning("think-A"), reasoning("think-B"), call("c1")]),
        result("c1", vec![Block::text("out")]),
        said(vec![call("c2")]),
        result("c2", vec![]),
        said(vec![reasoning("think-C"), Block::text("Done.")]),
        Message::user("two"),
        said(vec![reasoning("think-D")]),
        Message::user("three"),
    ];
    Request {
        config: CallConfig {
            provider: "deepseek".into(),
            model: model.into(),
            reasoning_effort: effort.map(str::to_owned),
            ..CallConfig::default()
        },
        system: Some("You help.".into()),
        tools: [].into(),
        messages: messages.map(Arc::new).to_vec(),
        session: None,
        purpose: Purpose::Step,
    }
}

/// The body as a server gets it.
async fn sent(request: Request) -> serde_json::Value {
    let server = harness_llm_mock::MockServer::start(
        harness_llm_mock::Script::new([harness_llm_mock::txt("ok")]),
        harness_llm_mock::Options::default(),
    )
    .await
    .unwrap();
    let route = RouteConfig::new("deepseek", server.base_url(), "DEEPSEEK_API_KEY");
    let prepared = adapter(DeepSeekRoute { route, compat: None }).prepare(&request.config).unwrap();
    let cancel = tokio_util::sync::CancellationToken::new();
    drop(prepared.stream(Arc::new(request), cancel).await.unwrap());
    server.requests()[0].json().unwrap().clone()
}

#[tokio::test]
async fn a_thinking_model_gets_all_its_reasoning_back() {
    insta::assert_json_snapshot!("v4", sent(session("deepseek-v4-pro", Some("max"))).await);
}

#[tokio::test]
async fn the_older_reasoner_gets_that_of_tool_calls_back() {
    insta::assert_json_snapshot!("reasoner", sent(session("deepseek-reasoner", None)).await);
}

#[tokio::test]
async fn thinking_is_switched_off_by_a_word() {
    let body = sent(session("deepseek-v4-flash", Some("off"))).await;
    assert_eq!(body["thinking"], serde_json::json!({"type": "disabled"}));
    assert_eq!(body.get("reasoning_effort"), None);
}
