//! H15: reasoning goes back with tool calls, and a resumed session sends what the living one would have sent.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed arrangement fails the test, and a real file is read"
)]
use std::path::Path;

use harness_bundle::{Harness, OpenedAgent, sections};
use harness_config::{Config, Environment, Paths};
use harness_llm::Message;
use harness_llm_mock::{MockServer, Options, Reply, Script, tc, txt};
use serde_json::{Value, json};

/// Reasoning with a call, reasoning with an answer, and the second turn's answer.
fn replies() -> [Reply; 3] {
    let thinking = Reply::new().reasoning(["think-A", "think-B"]);
    let calling = tc("c1", "read", json!({ "file_path": "a.txt" }));
    [
        Reply { steps: [thinking.steps, calling.steps].concat(), ..Reply::new() },
        Reply::new().reasoning(["think-C"]).pieces(["Done."]),
        txt("Again."),
    ]
}

struct World {
    folder: tempfile::TempDir,
    server: MockServer,
    protocol: &'static str,
}

impl World {
    async fn new(protocol: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "content").unwrap();
        let server = MockServer::start(Script::new(replies()), Options::default()).await.unwrap();
        Self { folder, server, protocol }
    }

    async fn harness(&self) -> Harness {
        let config = sections(Config::builder())
            .flag("test", &["providers", "p", "base_url"], self.server.base_url().into())
            .flag("test", &["providers", "p", "protocol"], self.protocol.into())
            .flag("test", &["model", "provider"], "p".into())
            .flag("test", &["model", "name"], "deepseek-v4-pro".into())
            .build();
        let paths = Paths::under(&self.folder.path().join("home"));
        Harness::start(&config, &Environment::default(), &paths).await.unwrap()
    }

    fn cwd(&self) -> &Path {
        self.folder.path()
    }
}

async fn turn(opened: &OpenedAgent, prompt: &str) {
    opened.agent.followup(Message::user(prompt)).unwrap();
    opened.agent.when_idle().await;
}

/// The bodies of two turns in one process.
async fn live(protocol: &'static str) -> Vec<Value> {
    let world = World::new(protocol).await;
    let harness = world.harness().await;
    let options = harness.agent_options(world.cwd().to_owned()).unwrap();
    let opened = harness.create(options).await.unwrap();
    turn(&opened, "one").await;
    turn(&opened, "two").await;
    harness.shutdown().await.unwrap();
    bodies(&world)
}

/// The bodies of two turns, the second one after a resume from disk.
async fn resumed(protocol: &'static str) -> Vec<Value> {
    let world = World::new(protocol).await;
    let harness = world.harness().await;
    let options = harness.agent_options(world.cwd().to_owned()).unwrap();
    let opened = harness.create(options).await.unwrap();
    let id = opened.agent.id();
    turn(&opened, "one").await;
    drop(opened);
    harness.shutdown().await.unwrap();
    let harness = world.harness().await;
    let options = harness.agent_options(world.cwd().to_owned()).unwrap();
    let opened = harness.resume(id, options).await.unwrap();
    turn(&opened, "two").await;
    harness.shutdown().await.unwrap();
    bodies(&world)
}

/// The requests as sent, the folder of this run taken out.
fn bodies(world: &World) -> Vec<Value> {
    let folder = world.cwd().to_str().unwrap();
    let requests = world.server.requests();
    let texts = requests.iter().map(|request| String::from_utf8_lossy(request.body()).replace(folder, "/w"));
    texts.map(|text| serde_json::from_str(&text).unwrap()).collect()
}

#[tokio::test]
async fn a_resumed_session_sends_what_the_living_one_would_have_sent() {
    for protocol in ["deepseek", "chat-completions", "messages", "responses"] {
        let (live, resumed) = (live(protocol).await, resumed(protocol).await);
        assert_eq!(live.len(), 3, "{protocol}");
        for (n, (live, resumed)) in live.iter().zip(&resumed).enumerate() {
            assert_eq!(live.to_string(), resumed.to_string(), "{protocol}: request {}", n + 1);
        }
    }
}

#[tokio::test]
async fn deepseek_gets_its_reasoning_back_and_content_is_a_text() {
    let bodies = live("deepseek").await;
    let assistant = |body: &Value| -> Vec<Value> {
        let messages = body["messages"].as_array().unwrap().iter();
        messages.filter(|message| message["role"] == "assistant").cloned().collect()
    };
    let second = assistant(&bodies[1]);
    assert_eq!(second[0]["reasoning_content"], "think-Athink-B");
    assert_eq!(second[0]["content"], "");
    assert_eq!(second[0]["tool_calls"][0]["id"], "c1");
    // The rule for finished turns: their reasoning goes back as well.
    let third = assistant(&bodies[2]);
    assert_eq!(third[0], second[0]);
    assert_eq!((&third[1]["reasoning_content"], &third[1]["content"]), (&json!("think-C"), &json!("Done.")));
}

#[tokio::test]
async fn a_plain_endpoint_leaves_reasoning_out() {
    let bodies = live("chat-completions").await;
    assert!(!bodies[2].to_string().contains("reasoning_content"), "{}", bodies[2]);
}

#[tokio::test]
async fn signed_thinking_and_encrypted_reasoning_go_back_in_their_place() {
    let messages = live("messages").await;
    let content = &messages[1]["messages"][1]["content"];
    assert_eq!(
        content[0],
        json!({ "type": "thinking", "thinking": "think-Athink-B", "signature": "mock-signature-1-0" })
    );
    assert_eq!((&content[1]["type"], &content[1]["id"]), (&json!("tool_use"), &json!("c1")));
    let responses = live("responses").await;
    let items = responses[1]["input"].as_array().unwrap();
    let at = items.iter().position(|item| item["type"] == "reasoning").unwrap();
    assert_eq!(items[at]["encrypted_content"], "mock-encrypted-rs_mock_1_0");
    assert_eq!(items[at]["summary"], json!([{ "type": "summary_text", "text": "think-Athink-B" }]));
    assert_eq!(items[at + 1]["type"], "function_call");
}
