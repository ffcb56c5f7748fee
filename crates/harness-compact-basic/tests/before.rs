//! Plugins decide before a compaction, and the bracket in the log says what came of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use harness_agent::{Agent, AgentFactory, AgentOptions, AgentPlugin, CreateAgent, SessionStartSource};
use harness_agent_loop::AgentLoop;
use harness_compact::{
    BeforeCompact, BeforeCompactDecision, CompactEnd, CompactError, CompactOutcome, Compactor, Trigger,
};
use harness_compact_basic::{CompactBasic, CompactConfig};
use harness_kernel::{App, Running};
use harness_llm::{
    AdapterStream, BlockKind, CallConfig, Chunk, FinishReason, Llm, LlmAdapter, LlmError, LlmPlugin, Message,
    ModelInfo, PreparedCall, Purpose, Request,
};
use harness_session::{Body, SessionHeader, SessionPlugin, Sessions};
use harness_system_prompt::SystemPromptPlugin;
use harness_tools::ToolsPlugin;
use tokio_util::sync::CancellationToken;

type Requests = Arc<Mutex<Vec<Arc<Request>>>>;

/// Answers every request with the same text.
#[derive(Clone)]
struct Parrot(String, Requests);
struct Call(CallConfig, ModelInfo, Parrot);
impl LlmAdapter for Parrot {
    fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
        let info = ModelInfo { model: config.model.clone(), context_window: Some(10_000), max_output: None };
        Ok(Arc::new(Call(config.clone(), info, self.clone())))
    }
}
#[async_trait::async_trait]
impl PreparedCall for Call {
    fn config(&self) -> &CallConfig {
        &self.0
    }
    fn model(&self) -> &ModelInfo {
        &self.1
    }
    async fn stream(&self, request: Arc<Request>, _: CancellationToken) -> Result<AdapterStream, LlmError> {
        self.2.1.lock().unwrap().push(request);
        let chunks = [
            Chunk::BlockStart { index: 0, kind: BlockKind::Text },
            Chunk::TextDelta { index: 0, text: self.2.0.clone() },
            Chunk::BlockEnd { index: 0, block: None },
            Chunk::Finish(FinishReason::Stop.into()),
        ];
        Ok(Box::pin(futures_util::stream::iter(chunks.map(Ok))))
    }
}

struct World {
    app: Running,
    agent: Arc<dyn Agent>,
    requests: Requests,
}
impl World {
    /// Two turns have passed.
    async fn new() -> Self {
        let app = App::default()
            .with(AgentLoop)
            .with(AgentPlugin)
            .with(ToolsPlugin)
            .with(SystemPromptPlugin::default())
            .with(SessionPlugin::default())
            .with(LlmPlugin)
            .with(CompactBasic::new(CompactConfig::default()).unwrap())
            .start()
            .await
            .unwrap();
        let ctx = app.ctx().clone();
        let requests = Requests::default();
        let parrot = Parrot("a long answer ".repeat(100), Arc::clone(&requests));
        ctx.service::<Llm>().unwrap().register(&ctx, "p", Arc::new(parrot)).unwrap();
        let sessions = ctx.service::<Sessions>().unwrap();
        let session = sessions.create(&ctx.scope("agent"), SessionHeader::new(0, None), Vec::new()).unwrap();
        let config = CallConfig { provider: "p".into(), model: "m".into(), ..CallConfig::default() };
        let options = AgentOptions::new(config, PathBuf::from("/"));
        let create = CreateAgent { session, options, source: SessionStartSource::Startup };
        let agent = ctx.service::<dyn AgentFactory>().unwrap().create(create).await.unwrap();
        let world = Self { app, agent, requests };
        world.turn("one").await;
        world.turn("two").await;
        world
    }
    async fn turn(&self, text: &str) {
        self.agent.followup(Message::user(text)).unwrap();
        self.agent.when_idle().await;
    }
    async fn compact(&self) -> Result<(), CompactError> {
        let compactor = self.app.ctx().service::<dyn Compactor>().unwrap();
        compactor.compact(&self.agent, Trigger::Manual, CancellationToken::new()).await.map(drop)
    }
    fn ends(&self) -> Vec<CompactOutcome> {
        let events = self.agent.session().view();
        let read = |body: &Body| match body {
            Body::Plugin(data) => data.read::<CompactEnd>().map(|end| end.unwrap().outcome),
            _ => None,
        };
        events.iter().filter_map(|event| read(&event.body)).collect()
    }
    fn summaries(&self) -> usize {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|request| request.purpose == Purpose::Compaction).count()
    }
    fn texts(&self) -> Vec<String> {
        self.agent.session().messages().iter().map(|message| message.text()).collect()
    }
}

#[tokio::test]
async fn a_plugin_can_say_no() {
    let world = World::new().await;
    let before = world.texts();
    world.app.ctx().on_serial::<BeforeCompact, _>(|before| async move {
        assert!(before.tokens > 0 && !before.messages.is_empty() && before.trigger == Trigger::Manual);
        ControlFlow::Break(BeforeCompactDecision::Reject { reason: "not now".into() })
    });
    let error = world.compact().await.unwrap_err();
    assert!(matches!(&error, CompactError::Rejected(reason) if reason == "not now"), "{error}");
    assert_eq!(world.texts(), before, "the history is as it was");
    assert_eq!(world.summaries(), 0, "no model was asked");
    assert!(matches!(&world.ends()[..], [CompactOutcome::Failed { code, .. }] if code == "COMPACT_REJECTED"));
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_plugin_can_bring_its_own_summary() {
    let world = World::new().await;
    let own = world.app.ctx().on_serial::<BeforeCompact, _>(|_| async move {
        ControlFlow::Break(BeforeCompactDecision::Summary("what I remember".into()))
    });
    world.compact().await.unwrap();
    assert!(world.texts()[0].contains("what I remember"), "{:?}", world.texts());
    assert!(world.texts()[0].contains("one"), "what the person said stays");
    assert_eq!(world.summaries(), 0, "no model was asked");
    assert!(matches!(&world.ends()[..], [CompactOutcome::Done { supplied: true, .. }]));
    own.dispose();
    // The next turn goes on from it, and the gate agrees with the log.
    world.turn("three").await;
    let last = world.requests.lock().unwrap().last().unwrap().messages[0].text();
    assert!(last.contains("what I remember"));
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_summary_that_is_no_smaller_is_refused() {
    let world = World::new().await;
    world.app.ctx().on_serial::<BeforeCompact, _>(|_| async move {
        ControlFlow::Break(BeforeCompactDecision::Summary("too much ".repeat(5000)))
    });
    let before = world.texts();
    assert!(matches!(world.compact().await.unwrap_err(), CompactError::NotSmaller { .. }));
    assert_eq!(world.texts(), before);
    world.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_listener_that_panics_leaves_the_history() {
    let world = World::new().await;
    world.app.ctx().on_serial::<BeforeCompact, _>(|_| async move { panic!("oops") });
    let error = world.compact().await.unwrap_err();
    assert!(error.to_string().contains("oops"), "{error}");
    assert_eq!(world.ends().len(), 1, "the bracket is closed");
    world.app.shutdown().await.unwrap();
}
