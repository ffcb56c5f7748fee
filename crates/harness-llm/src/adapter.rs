//! The provider seam: what a model adapter implements.
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::chunk::Chunk;
use crate::failure::{FailureCode, LlmError};
use crate::options::RequestExtras;
use crate::request::{CallConfig, Request};

/// Chunks as an adapter yields them: it may end in an in-band finish or throw an error; both are legal.
pub type AdapterStream = Pin<Box<dyn Stream<Item = Result<Chunk, LlmError>> + Send>>;

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Model name.
    pub model: String,
    /// Context window in tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Most answer tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
}

/// A model provider.
///
/// ```
/// use std::sync::Arc;
/// use harness_llm::{AdapterStream, CallConfig, Chunk, FinishReason, LlmAdapter, LlmError, ModelInfo, PreparedCall, Request};
/// use tokio_util::sync::CancellationToken;
///
/// struct Silent;
/// struct Call(CallConfig, ModelInfo);
/// impl LlmAdapter for Silent {
///     fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
///         let info = ModelInfo { model: config.model.clone(), context_window: None, max_output: None };
///         Ok(Arc::new(Call(config.clone(), info)))
///     }
/// }
/// #[async_trait::async_trait]
/// impl PreparedCall for Call {
///     fn config(&self) -> &CallConfig { &self.0 }
///     fn model(&self) -> &ModelInfo { &self.1 }
///     async fn stream(&self, _: Arc<Request>, _: CancellationToken) -> Result<AdapterStream, LlmError> {
///         Ok(Box::pin(futures_util::stream::iter([Ok(Chunk::Finish(FinishReason::Stop.into()))])))
///     }
/// }
/// ```
pub trait LlmAdapter: Send + Sync + 'static {
    /// Binds model, endpoint and credential to one generation of the adapter's settings and fills defaults,
    /// before any input or output. A missing key or an illegal option fails here.
    fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError>;

    /// Models that the adapter knows of. Advisory: an unlisted model may still work.
    fn models(&self) -> Vec<ModelInfo> {
        Vec::new()
    }
}

/// One bound call.
#[async_trait]
pub trait PreparedCall: Send + Sync {
    /// The configuration with the adapter's defaults filled in; this is what the log records.
    fn config(&self) -> &CallConfig;
    /// The model that will answer.
    fn model(&self) -> &ModelInfo;
    /// Sends the request. Cancelling the token ends the stream with [`crate::FailureCode::ABORTED`].
    async fn stream(
        &self,
        request: Arc<Request>,
        cancel: CancellationToken,
    ) -> Result<AdapterStream, LlmError>;

    /// The body fields outside system prompt, messages and tools, as [`stream`](Self::stream) would send them, for
    /// listeners of `llm/payload` to look at. Never a key.
    fn payload_fields(&self, _request: &Request) -> Map<String, Value> {
        Map::new()
    }

    /// Sends the request with what listeners added. An adapter that has no place for additions keeps this method,
    /// which refuses them instead of dropping them.
    async fn stream_with(
        &self,
        request: Arc<Request>,
        extras: RequestExtras,
        cancel: CancellationToken,
    ) -> Result<AdapterStream, LlmError> {
        if extras.is_empty() {
            return self.stream(request, cancel).await;
        }
        let provider = &self.config().provider;
        let text = format!(
            "a listener added headers, metadata, cache options or body fields, which the adapter of provider \
             `{provider}` cannot send; remove the listener or choose another provider"
        );
        Err(LlmError::new(FailureCode::INVALID_REQUEST, text))
    }
}
