//! Rows at the place where a request leaves.
use std::sync::Arc;

use async_trait::async_trait;
use harness_llm::{
    AdapterStream, CacheOptions, CacheRetention, CallConfig, Chunk, FailureCode, FinishReason, LlmAdapter,
    LlmError, ModelInfo, OptionRefused, PayloadEvent, PreparedCall, Request, RequestExtras, RequestOptions,
    RequestOptionsEvent,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::Notes;
use crate::rig::{Rig, text};

/// An adapter with a place for additions.
#[derive(Clone, Default)]
struct Open(Notes<RequestExtras>);
struct Call(CallConfig, ModelInfo, Open);
impl LlmAdapter for Open {
    fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
        let info = ModelInfo { model: config.model.clone(), context_window: None, max_output: None };
        Ok(Arc::new(Call(config.clone(), info, self.clone())))
    }
}
#[async_trait]
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
        self.stream_with(request, RequestExtras::default(), cancel).await
    }
    fn payload_fields(&self, request: &Request) -> Map<String, Value> {
        Map::from_iter([("model".to_owned(), request.config.model.clone().into())])
    }
    async fn stream_with(
        &self,
        _: Arc<Request>,
        extras: RequestExtras,
        _: CancellationToken,
    ) -> Result<AdapterStream, LlmError> {
        self.2.0.lock().unwrap().push(extras);
        Ok(Box::pin(futures_util::stream::iter([Ok(Chunk::Finish(FinishReason::Stop.into()))])))
    }
}

/// A rig whose agent speaks to the open adapter.
async fn open(setup: impl FnOnce(&harness_kernel::Ctx)) -> (Rig, Open) {
    let rig = Rig::with([], |ctx, _| setup(ctx)).await;
    let (open, ctx) = (Open::default(), rig.app.ctx());
    ctx.service::<harness_llm::Llm>().unwrap().register(ctx, "open", Arc::new(open.clone())).unwrap();
    let mut options = rig.agent.options();
    options.config.provider = "open".into();
    rig.agent.set_options(options);
    (rig, open)
}

#[tokio::test]
async fn before_provider_request() {
    let (rig, open) = open(|ctx| {
        ctx.around::<RequestOptionsEvent, _>(|mut event, next| async move {
            assert_eq!(event.options, RequestOptions::default(), "nothing of the adapter's own is in it");
            event.options.header("X-Team", "blue")?;
            event.options.metadata.insert("session".into(), event.request.session.clone().unwrap());
            event.options.cache =
                Some(CacheOptions { key: Some("k".into()), retention: CacheRetention::Long });
            next.run(event).await
        });
    })
    .await;
    rig.go("go").await;
    let extras = open.0.lock().unwrap().pop().unwrap();
    assert_eq!(extras.options.headers()["x-team"], "blue");
    assert_eq!(extras.options.metadata["session"], rig.agent.session().id().to_string());
    assert_eq!(extras.options.cache.unwrap().retention, CacheRetention::Long);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn before_provider_payload() {
    let (rig, open) = open(|ctx| {
        ctx.around::<PayloadEvent, _>(|mut event, next| async move {
            assert_eq!(Value::from(event.body()), json!({"model": "m"}));
            assert_eq!(event.request().messages.len(), 1);
            for name in ["messages", "system", "tools", "Messages", "temperature", "model", "input"] {
                let refused = event.fields.set(name, json!([]));
                assert_eq!(refused, Err(OptionRefused::LoggedField(name.into())));
            }
            event.fields.set("service_tier", json!("flex"))?;
            next.run(event).await
        });
    })
    .await;
    rig.go("go").await;
    let extras = open.0.lock().unwrap().pop().unwrap();
    assert_eq!(Value::from(extras.fields.fields().clone()), json!({"service_tier": "flex"}));
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn keys_and_transport_headers_are_refused() {
    let mut options = RequestOptions::default();
    for name in ["Authorization", "x-api-key", "API-KEY", "cookie", "host", "content-type"] {
        assert!(matches!(options.header(name, "v"), Err(OptionRefused::ReservedHeader(_))), "{name}");
    }
    for (name, value) in [("", "v"), ("a b", "v"), ("a:", "v"), ("a", "v\r\nauthorization: x"), ("a", "é")] {
        assert!(matches!(options.header(name, value), Err(OptionRefused::InvalidHeader(_))), "{name:?}");
    }
    assert!(options.is_empty());
}

#[tokio::test]
async fn additions_fail_closed() {
    // An adapter without a place for additions refuses them; a listener that fails or panics ends the call.
    let faults: Notes<u32> = Notes::default();
    let count = Arc::clone(&faults);
    let rig = Rig::with([text("never")], |ctx, _| {
        ctx.around::<RequestOptionsEvent, _>(move |mut event, next| {
            let turn = {
                let mut count = count.lock().unwrap();
                count.push(0);
                count.len()
            };
            async move {
                match turn {
                    1 => event.options.metadata.insert("a".into(), "b".into()),
                    2 => return Err(LlmError::new(FailureCode::other("MINE"), "cannot decide")),
                    _ => panic!("no idea"),
                };
                next.run(event).await
            }
        });
    })
    .await;
    let mut said = Vec::new();
    for prompt in ["1", "2", "3"] {
        rig.go(prompt).await;
        let events = rig.events();
        let harness_session::Body::TurnEnd(end) = &events.last().unwrap().body else { unreachable!() };
        let harness_session::TurnEndReason::Error { failure } = &end.reason else { panic!("{end:?}") };
        said.push(failure.to_string());
    }
    assert!(said[0].contains("cannot send"), "{said:?}");
    assert!(said[1].contains("cannot decide"), "{said:?}");
    assert!(said[2].contains("no idea"), "{said:?}");
    assert!(rig.script.requests().is_empty());
    rig.app.shutdown().await.unwrap();
}
