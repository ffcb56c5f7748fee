//! The `llm` service: provider routes, the `llm/stream` event and the gate in its core.
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use futures_core::Stream;
use harness_kernel::{Around, Ctx, Event, Panic, Service, contain, contain_sync};
use tokio_util::sync::CancellationToken;

use crate::adapter::{AdapterStream, LlmAdapter, ModelInfo, PreparedCall};
use crate::chunk::Chunk;
use crate::failure::{Failure, FailureCode, LlmError};
use crate::options::additions;
use crate::protocol::CheckedStream;
use crate::request::{CallConfig, Request, RequestGate};

/// Chunks after the boundary: it never throws and ends with exactly one [`Chunk::Finish`].
pub type ChunkStream = Pin<Box<dyn Stream<Item = Chunk> + Send>>;

/// One call on its way out. Listeners may read everything and change nothing.
#[derive(Clone)]
pub struct StreamCall {
    prepared: Arc<dyn PreparedCall>,
    request: Arc<Request>,
    gate: Option<Arc<dyn RequestGate>>,
    cancel: CancellationToken,
}
impl StreamCall {
    /// A call without a gate: summaries, titles and other requests that are not steps of a session.
    pub fn new(prepared: Arc<dyn PreparedCall>, request: Arc<Request>, cancel: CancellationToken) -> Self {
        Self { prepared, request, gate: None, cancel }
    }
    /// Adds the gate that compares the request with the log just before it leaves.
    #[must_use]
    pub fn gated(mut self, gate: Arc<dyn RequestGate>) -> Self {
        self.gate = Some(gate);
        self
    }
    /// The request.
    pub fn request(&self) -> &Arc<Request> {
        &self.request
    }
    /// Cancelled when the caller gives up.
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }
}

/// `llm/stream`: around one model call. A listener may delegate, wrap the stream it gets, or answer with a
/// stream of its own (replay); it cannot change the request.
#[derive(Clone)]
pub struct LlmStream(pub StreamCall);
impl Event for LlmStream {
    const NAME: &'static str = "llm/stream";
}
impl Around for LlmStream {
    type Output = Result<AdapterStream, LlmError>;
}

/// Why a route could not be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("provider route `{0}` is already registered; give one of the two another name")]
pub struct RouteError(pub String);
impl RouteError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        "llm-route-already-registered"
    }
}

type Routes = BTreeMap<String, Arc<dyn LlmAdapter>>;

/// The model service: routes from provider names to adapters.
#[derive(Default)]
pub struct Llm {
    routes: Arc<RwLock<Routes>>,
}
impl Service for Llm {
    const NAME: &'static str = "llm";
}

/// Ends a route when asked; dropping it does nothing.
#[derive(Clone)]
pub struct RouteRegistration {
    routes: Weak<RwLock<Routes>>,
    name: String,
    adapter: Weak<dyn LlmAdapter>,
}
impl RouteRegistration {
    /// Removes the route, unless it was removed before. Calls that are prepared keep their adapter.
    pub fn remove(&self) {
        let Some(routes) = self.routes.upgrade() else { return };
        let mut routes = routes.write().unwrap_or_else(PoisonError::into_inner);
        let ours = |adapter: &Arc<dyn LlmAdapter>| Weak::ptr_eq(&Arc::downgrade(adapter), &self.adapter);
        if routes.get(&self.name).is_some_and(ours) {
            let removed = routes.remove(&self.name);
            drop(routes);
            drop(removed); // the adapter's own code, outside the lock
        }
    }
}

impl Llm {
    /// Registers an adapter under a provider name for as long as `ctx` lives, or until the registration is removed.
    pub fn register(
        &self,
        ctx: &Ctx,
        provider: impl Into<String>,
        adapter: Arc<dyn LlmAdapter>,
    ) -> Result<RouteRegistration, RouteError> {
        let name = provider.into();
        let registered = Arc::downgrade(&adapter);
        {
            let mut routes = self.routes.write().unwrap_or_else(PoisonError::into_inner);
            if routes.contains_key(&name) {
                return Err(RouteError(name));
            }
            routes.insert(name.clone(), adapter);
        }
        let routes = Arc::downgrade(&self.routes);
        let registration = RouteRegistration { routes, name, adapter: registered };
        let owned = registration.clone();
        ctx.on_dispose(move || async move { owned.remove() });
        Ok(registration)
    }

    /// Registered provider names with the models that they list.
    pub fn routes(&self) -> Vec<(String, Vec<ModelInfo>)> {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner).clone();
        routes.into_iter().map(|(name, adapter)| (name, adapter.models())).collect()
    }

    /// Binds a call to its adapter.
    pub fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
        let routes = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        let Some(adapter) = routes.get(&config.provider).map(Arc::clone) else {
            let known: Vec<_> = routes.keys().map(String::as_str).collect();
            let text = format!(
                "no model provider `{}` is configured (configured: {})",
                config.provider,
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            );
            return Err(LlmError::new(FailureCode::UNKNOWN_PROVIDER, text));
        };
        drop(routes);
        contain_sync(|| adapter.prepare(config)).unwrap_or_else(|panic| Err(panicked(&panic)))
    }

    /// Streams a call through `llm/stream`. Every failure arrives as the terminal chunk; once the caller cancels,
    /// neither a listener nor an adapter is waited for.
    pub async fn stream(&self, ctx: &Ctx, call: StreamCall) -> ChunkStream {
        let cancel = call.cancel.clone();
        let scope = ctx.clone();
        let chain = ctx.waterfall(LlmStream(call), move |LlmStream(call)| {
            let scope = scope.clone();
            async move {
                if let Some(gate) = &call.gate {
                    let refused =
                        |refusal| LlmError::new(FailureCode::REQUEST_NOT_LOGGED, format!("{refusal}"));
                    gate.check(&call.request).map_err(refused)?;
                }
                let extras = additions(&scope, &call.prepared, &call.request).await?;
                call.prepared.stream_with(call.request, extras, call.cancel).await
            }
        });
        match cancel.run_until_cancelled(contain(chain)).await {
            Some(Ok(Ok(stream))) => CheckedStream::boxed(stream, cancel),
            Some(Ok(Err(error))) => CheckedStream::failed(error, &cancel),
            Some(Err(panic)) => CheckedStream::failed(panicked(&panic), &cancel),
            None => CheckedStream::failed(Failure::aborted().into(), &cancel),
        }
    }
}

fn panicked(panic: &Panic) -> LlmError {
    LlmError::new(FailureCode::LISTENER_PANICKED, format!("the model call {panic}"))
}
