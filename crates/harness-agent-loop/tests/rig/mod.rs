//! A whole spine in memory: a scripted adapter, real services, the real loop.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part of the rig")]
pub(crate) mod tools;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use harness_agent::{Agent, AgentFactory, AgentOptions, AgentPlugin, CreateAgent, SessionStartSource};
use harness_agent_loop::AgentLoop;
use harness_kernel::{App, Ctx, Running};
use harness_llm::{
    AdapterStream, BlockKind, CallConfig, Chunk, FinishReason, Llm, LlmAdapter, LlmError, LlmPlugin, Message,
    ModelInfo, PreparedCall, Request,
};
use harness_session::{Event, SessionHeader, SessionPlugin, Sessions};
use harness_system_prompt::SystemPromptPlugin;
use harness_tools::{Tools, ToolsPlugin};
use tokio_util::sync::CancellationToken;

/// What the scripted model does with one request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// These chunks.
    Chunks(Vec<Chunk>),
    /// These chunks, then silence until the call is cancelled.
    Stall(Vec<Chunk>),
    /// An error in place of a stream.
    Error(LlmError),
}

pub(crate) fn text(text: &str) -> Reply {
    Reply::Chunks(vec![
        Chunk::BlockStart { index: 0, kind: BlockKind::Text },
        Chunk::TextDelta { index: 0, text: text.into() },
        Chunk::BlockEnd { index: 0, block: None },
        Chunk::Finish(FinishReason::Stop.into()),
    ])
}
pub(crate) fn calls(calls: &[(&str, &str, &str)]) -> Reply {
    calls_ending(calls, FinishReason::ToolCalls)
}
pub(crate) fn calls_ending(calls: &[(&str, &str, &str)], finish: FinishReason) -> Reply {
    let mut chunks = Vec::new();
    for (index, (id, name, arguments)) in (0..).zip(calls) {
        let kind = BlockKind::ToolCall { id: (*id).into(), name: (*name).into() };
        chunks.push(Chunk::BlockStart { index, kind });
        chunks.push(Chunk::ToolCallDelta { index, arguments: (*arguments).into() });
        chunks.push(Chunk::BlockEnd { index, block: None });
    }
    chunks.push(Chunk::Finish(finish.into()));
    Reply::Chunks(chunks)
}

#[derive(Clone, Default)]
pub(crate) struct Script(Arc<Mutex<(VecDeque<Reply>, Requests)>>);
type Requests = Vec<Arc<Request>>;
impl Script {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self(Arc::new(Mutex::new((replies.into_iter().collect(), Vec::new()))))
    }
    pub(crate) fn requests(&self) -> Vec<Arc<Request>> {
        self.0.lock().unwrap().1.clone()
    }
}
impl LlmAdapter for Script {
    fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
        let info = ModelInfo { model: config.model.clone(), context_window: Some(1000), max_output: None };
        Ok(Arc::new(Call(config.clone(), info, self.clone())))
    }
}
struct Call(CallConfig, ModelInfo, Script);
#[async_trait::async_trait]
impl PreparedCall for Call {
    fn config(&self) -> &CallConfig {
        &self.0
    }
    fn model(&self) -> &ModelInfo {
        &self.1
    }
    async fn stream(
        &self,
        request: Arc<Request>,
        cancel: CancellationToken,
    ) -> Result<AdapterStream, LlmError> {
        let reply = {
            let mut script = self.2.0.lock().unwrap();
            script.1.push(request);
            script.0.pop_front().expect("the script has a reply for each request")
        };
        let stream = |chunks: Vec<Chunk>| futures_util::stream::iter(chunks.into_iter().map(Ok));
        match reply {
            Reply::Chunks(chunks) => Ok(Box::pin(stream(chunks))),
            Reply::Error(error) => Err(error),
            Reply::Stall(chunks) => {
                let end = async move {
                    cancel.cancelled().await;
                    Err(LlmError(harness_llm::Failure::aborted()))
                };
                Ok(Box::pin(stream(chunks).chain(futures_util::stream::once(end))))
            }
        }
    }
}

pub(crate) struct Rig {
    pub(crate) app: Running,
    pub(crate) script: Script,
    pub(crate) agent: Arc<dyn Agent>,
}
impl Rig {
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(replies, |_, _| {}).await
    }
    /// `setup` registers listeners and tools before the agent is made.
    pub(crate) async fn with(
        replies: impl IntoIterator<Item = Reply>,
        setup: impl FnOnce(&Ctx, &Arc<Tools>),
    ) -> Self {
        Self::resumed(replies, SessionHeader::new(0, None), Vec::new(), setup).await
    }
    pub(crate) async fn resumed(
        replies: impl IntoIterator<Item = Reply>,
        header: SessionHeader,
        seed: Vec<Arc<Event>>,
        setup: impl FnOnce(&Ctx, &Arc<Tools>),
    ) -> Self {
        let app = App::default()
            .with(AgentLoop)
            .with(AgentPlugin)
            .with(ToolsPlugin)
            .with(SystemPromptPlugin::default())
            .with(SessionPlugin::default())
            .with(LlmPlugin)
            .start()
            .await
            .unwrap();
        let script = Script::new(replies);
        let ctx = app.ctx().clone();
        ctx.service::<Llm>().unwrap().register(&ctx, "scripted", Arc::new(script.clone())).unwrap();
        setup(&ctx, &ctx.service::<Tools>().unwrap());
        let config = CallConfig { provider: "scripted".into(), model: "m".into(), ..CallConfig::default() };
        let source = if seed.is_empty() { SessionStartSource::Startup } else { SessionStartSource::Resume };
        let sessions = ctx.service::<Sessions>().unwrap();
        let session = sessions.create(&ctx.scope("agent"), header, seed).unwrap();
        let options = AgentOptions::new(config, PathBuf::from("/"));
        let create = CreateAgent { session, options, source };
        let agent = ctx.service::<dyn AgentFactory>().unwrap().create(create).await.unwrap();
        Self { app, script, agent }
    }
    /// Sends one follow-up and waits until the agent is idle.
    pub(crate) async fn go(&self, text: &str) {
        self.agent.followup(Message::user(text)).unwrap();
        self.agent.when_idle().await;
    }
    /// The log without inbox and request records.
    pub(crate) fn story(&self) -> Vec<String> {
        let noise = |line: &String| {
            ["agent/inbox", "request/", "assistant/chunks"].iter().any(|n| line.starts_with(n))
        };
        self.log().into_iter().filter(|line| !noise(line)).collect()
    }
    /// The log, one short line an event.
    pub(crate) fn log(&self) -> Vec<String> {
        self.agent.session().view().iter().map(|event| line(&event)).collect()
    }
    pub(crate) fn events(&self) -> Vec<Arc<Event>> {
        self.agent.session().view().iter().collect()
    }
}

pub(crate) fn line(event: &Event) -> String {
    use harness_session::Body;
    let name = event.body.type_name();
    match &event.body {
        Body::UserMessage(user) => format!("{name} {}", user.message.text()),
        Body::AssistantMessage(assistant) => {
            let calls: Vec<_> = assistant.message.tool_calls().map(|call| call.id.as_str()).collect();
            let interrupted = if assistant.interrupted { " interrupted" } else { "" };
            format!("{name} {}{}{interrupted}", assistant.message.text(), calls.join(","))
        }
        Body::ToolCall(call) => format!("{name} {}", call.call_id),
        Body::ToolResult(result) => {
            let code = result.error.as_ref().map_or("ok", |error| error.code.as_str());
            let harness_llm::MessageSource::Tool { call_id } = &result.message.source else { unreachable!() };
            format!("{name} {call_id} {code}")
        }
        Body::TurnEnd(end) => {
            let reason = serde_json::to_value(&end.reason).unwrap();
            format!("{name} {}", reason["kind"].as_str().unwrap())
        }
        _ => name.to_owned(),
    }
}
