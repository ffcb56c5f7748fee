//! A printed call through the service, in pieces of any size.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use futures_util::StreamExt;
use harness_kernel::{App, Running};
use harness_llm::{
    AdapterStream, Assembled, Assembler, Block, BlockKind, CallConfig, Chunk, FinishReason, Llm, LlmAdapter,
    LlmError, LlmPlugin, ModelInfo, PreparedCall, Purpose, Request, StreamCall, ToolSpec, Usage,
};
use harness_llm_text_calls::{TextCalls, TextCallsConfig};
use harness_session::SessionPlugin;
use tokio_util::sync::CancellationToken;

struct Printer(Vec<Chunk>);
struct Call(CallConfig, ModelInfo, Vec<Chunk>);
impl LlmAdapter for Printer {
    fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
        let info = ModelInfo { model: config.model.clone(), context_window: None, max_output: None };
        Ok(Arc::new(Call(config.clone(), info, self.0.clone())))
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
    async fn stream(&self, _: Arc<Request>, _: CancellationToken) -> Result<AdapterStream, LlmError> {
        Ok(Box::pin(futures_util::stream::iter(self.2.clone().into_iter().map(Ok))))
    }
}

async fn world(chunks: Vec<Chunk>, models: &[&str]) -> Running {
    let config = TextCallsConfig { models: models.iter().map(|model| (*model).to_owned()).collect() };
    let app = App::default()
        .with(SessionPlugin::default())
        .with(LlmPlugin)
        .with(TextCalls { config })
        .start()
        .await
        .unwrap();
    let llm = app.ctx().service::<Llm>().unwrap();
    llm.register(app.ctx(), "local", Arc::new(Printer(chunks))).unwrap();
    app
}
async fn answer(app: &Running) -> (Assembled, usize) {
    let config = CallConfig { provider: "local".into(), model: "small-7b".into(), ..CallConfig::default() };
    let llm = app.ctx().service::<Llm>().unwrap();
    let prepared = llm.prepare(&config).unwrap();
    let parameters = serde_json::json!({ "type": "object" });
    let tool = ToolSpec { name: "read".into(), description: String::new(), parameters };
    let request = Request {
        config,
        system: None,
        tools: [tool].into(),
        messages: Vec::new(),
        session: None,
        purpose: Purpose::Step,
    };
    let call = StreamCall::new(prepared, Arc::new(request), CancellationToken::new());
    let mut stream = llm.stream(app.ctx(), call).await;
    let (mut assembler, mut texts) = (Assembler::default(), 0);
    while let Some(chunk) = stream.next().await {
        texts += usize::from(matches!(chunk, Chunk::TextDelta { .. }));
        assembler.push(&chunk);
    }
    (assembler.finish(), texts)
}
fn printed(text: &str, piece: usize) -> Vec<Chunk> {
    let mut chunks = vec![
        Chunk::BlockStart { index: 0, kind: BlockKind::Reasoning },
        Chunk::ReasoningDelta { index: 0, text: "hm".into() },
        Chunk::BlockEnd { index: 0, block: None },
        Chunk::BlockStart { index: 1, kind: BlockKind::Text },
    ];
    let chars: Vec<char> = text.chars().collect();
    for part in chars.chunks(piece) {
        chunks.push(Chunk::TextDelta { index: 1, text: part.iter().collect() });
    }
    chunks.push(Chunk::BlockEnd { index: 1, block: None });
    chunks.push(Chunk::Usage(Usage { input: 3, output: 4, ..Usage::default() }));
    chunks.push(Chunk::Finish(FinishReason::Stop.into()));
    chunks
}
const CALL: &str = "<tool_call>{\"name\":\"read\",\"arguments\":{\"file_path\":\"ä\"}}</tool_call>";

#[tokio::test]
async fn a_printed_call_becomes_a_real_one() {
    for piece in [1, 3, 1000] {
        let app = world(printed(CALL, piece), &["local/small*"]).await;
        let (answer, texts) = answer(&app).await;
        assert_eq!(texts, 0, "none of it was shown as text");
        let [Block::Reasoning { .. }, Block::ToolCall(call)] = &answer.content[..] else {
            panic!("{:?}", answer.content)
        };
        assert_eq!((call.name.as_str(), call.arguments.as_str()), ("read", r#"{"file_path":"ä"}"#));
        assert!(!call.id.is_empty());
        assert_eq!(answer.finish.reason, FinishReason::ToolCalls);
        assert_eq!(answer.usage.unwrap().output, 4);
        app.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn anything_else_stays_text_and_loses_nothing() {
    let other_tool = CALL.replace("read", "write");
    let twice = CALL.repeat(2);
    for text in ["Hello there.", "{\"a\": 1}", &other_tool, &twice, "<tool_call> is how it is done", "  \n"] {
        let app = world(printed(text, 2), &["small-7b"]).await;
        let (answer, _) = answer(&app).await;
        let said: String = answer.content.iter().filter_map(Block::as_text).collect();
        assert_eq!(said, text);
        assert_eq!(answer.finish.reason, FinishReason::Stop);
        app.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn other_models_are_left_alone() {
    for models in [&[][..], &["local/other"][..], &["mall-7b"][..]] {
        let app = world(printed(CALL, 5), models).await;
        let (answer, texts) = answer(&app).await;
        assert!(texts > 1, "it streams");
        assert_eq!(answer.finish.reason, FinishReason::Stop);
        app.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn a_cut_answer_is_no_call() {
    let mut chunks = printed(CALL, 5);
    *chunks.last_mut().unwrap() = Chunk::Finish(FinishReason::MaxTokens.into());
    let app = world(chunks, &["small-7b"]).await;
    let (answer, _) = answer(&app).await;
    assert_eq!(answer.finish.reason, FinishReason::MaxTokens);
    assert!(answer.content.iter().all(|block| !matches!(block, Block::ToolCall(_))));
    app.shutdown().await.unwrap();
}
