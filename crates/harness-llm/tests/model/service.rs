//! The service: routes, the gate, and what listeners around a stream may do.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use harness_kernel::{App, Running};
use harness_llm::{
    AdapterStream, CallConfig, Chunk, FailureCode, GateRefusal, Llm, LlmAdapter, LlmError, LlmPlugin,
    LlmStream, ModelInfo, PreparedCall, Purpose, Request, RequestGate, StreamCall,
};
use tokio_util::sync::CancellationToken;

use crate::chunks::{end, start_text, stop, text};

/// Says one word; counts how often it is really asked.
struct Parrot {
    word: &'static str,
    asked: Arc<AtomicUsize>,
}
struct Call {
    config: CallConfig,
    info: ModelInfo,
    word: &'static str,
    asked: Arc<AtomicUsize>,
}
impl LlmAdapter for Parrot {
    fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
        assert_ne!(config.model, "explosive", "the adapter exploded");
        let info = ModelInfo { model: config.model.clone(), context_window: None, max_output: None };
        let (config, asked) = (config.clone(), Arc::clone(&self.asked));
        Ok(Arc::new(Call { config, info, word: self.word, asked }))
    }
    fn models(&self) -> Vec<ModelInfo> {
        vec![ModelInfo { model: self.word.to_owned(), context_window: None, max_output: None }]
    }
}
fn saying(word: &str) -> Vec<Result<Chunk, LlmError>> {
    vec![Ok(start_text(0)), Ok(text(0, word)), Ok(end(0)), Ok(stop())]
}
#[async_trait]
impl PreparedCall for Call {
    fn config(&self) -> &CallConfig {
        &self.config
    }
    fn model(&self) -> &ModelInfo {
        &self.info
    }
    async fn stream(&self, _: Arc<Request>, _: CancellationToken) -> Result<AdapterStream, LlmError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match self.config.model.as_str() {
            "refused" => Err(LlmError::new(FailureCode::AUTH, "the key was refused")),
            "hangs" => std::future::pending().await,
            _ => Ok(Box::pin(futures_util::stream::iter(saying(self.word)))),
        }
    }
}

struct Rig {
    app: Running,
    llm: Arc<Llm>,
    asked: Arc<AtomicUsize>,
    cancel: CancellationToken,
}
impl Rig {
    async fn new() -> Self {
        let app = App::default().with(LlmPlugin).start().await.unwrap();
        let llm = app.ctx().service::<Llm>().unwrap();
        let rig = Self { app, llm, asked: Arc::default(), cancel: CancellationToken::new() };
        rig.llm.register(rig.app.ctx(), "parrot", rig.parrot("hello")).unwrap();
        rig
    }
    fn parrot(&self, word: &'static str) -> Arc<Parrot> {
        Arc::new(Parrot { word, asked: Arc::clone(&self.asked) })
    }
    fn prepare(&self, provider: &str, model: &str) -> Result<Arc<dyn PreparedCall>, LlmError> {
        let config = CallConfig { provider: provider.into(), model: model.into(), ..CallConfig::default() };
        self.llm.prepare(&config)
    }
    fn call(&self, model: &str) -> StreamCall {
        let prepared = self.prepare("parrot", model).unwrap();
        let request = Request {
            config: prepared.config().clone(),
            system: None,
            tools: Arc::new([]),
            messages: Vec::new(),
            session: None,
            purpose: Purpose::Step,
        };
        StreamCall::new(prepared, Arc::new(request), self.cancel.clone())
    }
    async fn read(&self, call: StreamCall) -> Vec<Chunk> {
        let reading = async { self.llm.stream(self.app.ctx(), call).await.collect().await };
        tokio::time::timeout(Duration::from_mins(1), reading).await.expect("the stream never ends")
    }
    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
    async fn end(self) {
        self.app.shutdown().await.unwrap();
    }
}

/// The texts of a stream.
fn said(chunks: &[Chunk]) -> String {
    let piece = |chunk: &Chunk| match chunk {
        Chunk::TextDelta { text, .. } => Some(text.clone()),
        _ => None,
    };
    chunks.iter().filter_map(piece).collect()
}
/// The code of a stream that is nothing but one failure.
fn only_failure(chunks: &[Chunk]) -> String {
    match chunks {
        [Chunk::Finish(finish)] => finish.reason.failure().unwrap().code.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_goes_to_its_route() {
    let rig = Rig::new().await;
    rig.llm.register(rig.app.ctx(), "raven", rig.parrot("nevermore")).unwrap();
    let call = rig.call("m");
    assert_eq!(said(&rig.read(call).await), "hello");
    let config = rig.prepare("raven", "m").unwrap().config().clone();
    assert_eq!((config.provider.as_str(), config.model.as_str()), ("raven", "m"));
    let routes: Vec<(String, usize)> =
        rig.llm.routes().into_iter().map(|(name, models)| (name, models.len())).collect();
    assert_eq!(routes, [("parrot".to_owned(), 1), ("raven".to_owned(), 1)]);
    rig.end().await;
}

#[tokio::test]
async fn a_route_is_registered_once() {
    let rig = Rig::new().await;
    let error = rig.llm.register(rig.app.ctx(), "parrot", rig.parrot("again")).err().unwrap();
    assert_eq!(error.code(), "llm-route-already-registered");
    assert!(error.to_string().contains("`parrot` is already registered"), "{error}");
    assert_eq!(said(&rig.read(rig.call("m")).await), "hello", "the first one stays");
    rig.end().await;
}

#[tokio::test]
async fn an_unknown_provider_is_named_with_those_that_are_known() {
    let rig = Rig::new().await;
    let error = rig.prepare("parot", "m").err().unwrap();
    assert_eq!(error.code(), "UNKNOWN_PROVIDER");
    assert!(error.to_string().contains("`parot` is configured (configured: parrot)"), "{error}");
    let llm = Llm::default();
    let error = llm.prepare(&CallConfig::default()).err().unwrap();
    assert!(error.to_string().contains("(configured: none)"), "{error}");
    rig.end().await;
}

#[tokio::test]
async fn a_route_ends_with_its_context_and_prepared_calls_go_on() {
    let rig = Rig::new().await;
    let plugin = rig.app.ctx().fork("plugin");
    rig.llm.register(&plugin, "raven", rig.parrot("nevermore")).unwrap();
    let prepared = rig.prepare("raven", "m").unwrap();
    plugin.dispose().await.unwrap();
    assert_eq!(rig.prepare("raven", "m").err().unwrap().code(), "UNKNOWN_PROVIDER");
    let call = StreamCall::new(prepared, Arc::clone(rig.call("m").request()), rig.cancel.clone());
    assert_eq!(said(&rig.read(call).await), "nevermore");
    rig.llm.register(rig.app.ctx(), "raven", rig.parrot("again")).unwrap();
    rig.end().await;
}

#[tokio::test]
async fn a_registration_ends_its_own_route_and_no_later_one() {
    let rig = Rig::new().await;
    let plugin = rig.app.ctx().fork("plugin");
    let first = rig.llm.register(&plugin, "raven", rig.parrot("first")).unwrap();
    first.remove();
    assert!(rig.prepare("raven", "m").is_err());
    rig.llm.register(rig.app.ctx(), "raven", rig.parrot("second")).unwrap();
    first.remove();
    plugin.dispose().await.unwrap();
    assert!(rig.prepare("raven", "m").is_ok(), "the second one is not the first one's to remove");
    rig.end().await;
}

/// Adapters are foreign code: none runs under the lock of the routes.
#[tokio::test]
async fn an_adapter_may_use_the_service() {
    struct Asks(Arc<Llm>, harness_kernel::Ctx, Arc<Parrot>);
    impl LlmAdapter for Asks {
        fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
            self.0.prepare(&CallConfig { provider: "parrot".into(), ..config.clone() })
        }
        fn models(&self) -> Vec<ModelInfo> {
            self.0.register(&self.1, "discovered", Arc::clone(&self.2) as _).unwrap();
            Vec::new()
        }
    }
    let rig = Rig::new().await;
    let asks = Asks(Arc::clone(&rig.llm), rig.app.ctx().clone(), rig.parrot("found"));
    rig.llm.register(rig.app.ctx(), "fallback", Arc::new(asks)).unwrap();
    assert_eq!(rig.llm.routes().len(), 2);
    assert!(rig.prepare("discovered", "m").is_ok() && rig.prepare("fallback", "m").is_ok());
    rig.end().await;
}

#[tokio::test]
async fn an_adapter_that_panics_while_it_prepares_is_an_error() {
    let rig = Rig::new().await;
    let error = rig.prepare("parrot", "explosive").err().unwrap();
    assert_eq!(error.code(), "LISTENER_PANICKED");
    assert!(error.to_string().contains("the adapter exploded"), "{error}");
    rig.end().await;
}

#[tokio::test]
async fn a_refused_call_is_one_terminal_chunk() {
    let rig = Rig::new().await;
    assert_eq!(only_failure(&rig.read(rig.call("refused")).await), "AUTH");
    rig.end().await;
}

struct Refuses;
impl RequestGate for Refuses {
    fn check(&self, _request: &Request) -> Result<(), GateRefusal> {
        Err(GateRefusal("message 3 is not in the log".into()))
    }
}

#[tokio::test]
async fn what_the_gate_refuses_never_leaves() {
    let rig = Rig::new().await;
    let heard = Arc::new(AtomicUsize::new(0));
    let listener = Arc::clone(&heard);
    rig.app.ctx().around::<LlmStream, _>(move |event, next| {
        listener.fetch_add(1, Ordering::SeqCst);
        next.run(event)
    });
    let chunks = rig.read(rig.call("m").gated(Arc::new(Refuses))).await;
    assert_eq!(only_failure(&chunks), "REQUEST_NOT_LOGGED");
    let Chunk::Finish(finish) = &chunks[0] else { unreachable!() };
    assert!(finish.reason.failure().unwrap().message.contains("message 3 is not in the log"));
    assert_eq!((heard.load(Ordering::SeqCst), rig.asked()), (1, 0), "the gate is behind every listener");
    rig.end().await;
}

#[tokio::test]
async fn a_listener_can_answer_itself_and_then_nothing_leaves() {
    let rig = Rig::new().await;
    rig.app.ctx().around::<LlmStream, _>(|_, _| async {
        Ok(Box::pin(futures_util::stream::iter(saying("replayed"))) as AdapterStream)
    });
    let chunks = rig.read(rig.call("m").gated(Arc::new(Refuses))).await;
    assert_eq!((said(&chunks).as_str(), rig.asked()), ("replayed", 0));
    rig.end().await;
}

#[tokio::test]
async fn a_listeners_own_stream_is_checked_like_any_other() {
    let rig = Rig::new().await;
    rig.app.ctx().around::<LlmStream, _>(|_, _| async {
        Ok(Box::pin(futures_util::stream::iter([Ok(text(0, "never opened"))])) as AdapterStream)
    });
    assert_eq!(only_failure(&rig.read(rig.call("m")).await), "PROTOCOL_VIOLATION");
    rig.end().await;
}

#[tokio::test]
async fn a_listener_can_wrap_the_stream_and_try_again() {
    let rig = Rig::new().await;
    rig.app.ctx().around::<LlmStream, _>(|event, next| async move {
        drop(next.clone().run(event.clone()).await?);
        let stream = next.run(event).await?;
        let louder = |chunk| match chunk {
            Ok(Chunk::TextDelta { index, text }) => Ok(Chunk::TextDelta { index, text: text.to_uppercase() }),
            other => other,
        };
        Ok(Box::pin(stream.map(louder)) as AdapterStream)
    });
    let chunks = rig.read(rig.call("m")).await;
    assert_eq!((said(&chunks).as_str(), rig.asked()), ("HELLO", 2));
    rig.end().await;
}

#[tokio::test]
async fn a_listener_that_fails_is_one_terminal_chunk() {
    let rig = Rig::new().await;
    let handle = rig.app.ctx().around::<LlmStream, _>(|_, _| async { panic!("the recorder exploded") });
    let chunks = rig.read(rig.call("m")).await;
    assert_eq!((only_failure(&chunks).as_str(), rig.asked()), ("LISTENER_PANICKED", 0));
    handle.dispose();
    rig.app.ctx().around::<LlmStream, _>(|_, _| async {
        Err(LlmError::new(FailureCode::other("BUDGET_SPENT"), "no money left"))
    });
    assert_eq!(only_failure(&rig.read(rig.call("m")).await), "BUDGET_SPENT");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_waits_for_nobody() {
    let rig = Rig::new().await;
    let soon = rig.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        soon.cancel();
    });
    assert_eq!(only_failure(&rig.read(rig.call("hangs")).await), "ABORTED");
    assert_eq!(rig.asked(), 1);
    assert_eq!(only_failure(&rig.read(rig.call("m")).await), "ABORTED");
    assert_eq!(rig.asked(), 1, "a call that is cancelled before it starts does not leave");
    rig.end().await;
}
