//! A model that says again what it said.
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_core::Stream;
use harness_llm::{
    AdapterStream, CallConfig, Chunk, FailureCode, LlmAdapter, LlmError, ModelInfo, PreparedCall, Request,
};
use harness_session::TurnEndReason;
use tokio_util::sync::CancellationToken;

use crate::abort::Moment;
use crate::script::Script;

/// Serves the recorded chunks of each attempt.
pub(crate) struct Recorded(pub(crate) Arc<Script>);

impl LlmAdapter for Recorded {
    fn prepare(&self, config: &CallConfig) -> Result<Arc<dyn PreparedCall>, LlmError> {
        if let Some(failure) = self.never_sent() {
            return Err(failure);
        }
        let route = (config.provider.clone(), config.model.clone());
        let context_window = self.0.windows.get(&route).copied().flatten();
        let info = ModelInfo { model: config.model.clone(), context_window, max_output: None };
        Ok(Arc::new(Call { script: Arc::clone(&self.0), config: config.clone(), info }))
    }
}

impl Recorded {
    /// The failure of a turn whose last request never left.
    fn never_sent(&self) -> Option<LlmError> {
        let (at, attempt) = self.0.request()?;
        let (turn, step) = (self.0.life.turn(at.turn)?, self.0.life.step(at.turn, at.step)?);
        let last = turn.steps.last_key_value().is_some_and(|(number, _)| *number == at.step);
        let Some(TurnEndReason::Error { failure }) = turn.reason() else { return None };
        let unsent = attempt == 1 && step.attempts.is_empty() && step.answer.is_none();
        if !(last && unsent) {
            return None;
        }
        if failure.code.as_str() == "NOT_DURABLE" {
            self.0.fail_saving();
            return None;
        }
        Some(failure.clone().into())
    }
}

struct Call {
    script: Arc<Script>,
    config: CallConfig,
    info: ModelInfo,
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
        let script = Arc::clone(&self.script);
        let missing =
            || LlmError::new(FailureCode::other("NOT_RECORDED"), "the record has no such model call");
        let (at, attempt) = script.request().ok_or_else(missing)?;
        let recorded = script.step().and_then(|step| step.attempts.get(&attempt));
        let rest: VecDeque<Chunk> = recorded.map(|attempt| attempt.chunks.clone().into()).unwrap_or_default();
        // What came while it streamed comes before the end of it.
        let until = recorded.map_or(script.given(), |attempt| script.life.next_made(attempt.last + 1));
        script.give(until);
        let moment = Moment::Stream(at.step, attempt);
        if rest.is_empty() && !script.cancel_at(at.turn, moment) && !script.life.crashed() {
            return Err(missing());
        }
        Ok(Box::pin(Chunks { script, turn: at.turn, moment, rest }))
    }
}

struct Chunks {
    script: Arc<Script>,
    turn: u32,
    moment: Moment,
    rest: VecDeque<Chunk>,
}

impl Stream for Chunks {
    type Item = Result<Chunk, LlmError>;
    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.rest.pop_front();
        if next.is_some() {
            if self.rest.is_empty() {
                // Cancelled while this chunk is taken: it is logged, and nothing after it.
                self.script.cancel_at(self.turn, self.moment);
            }
            return Poll::Ready(next.map(Ok));
        }
        if self.script.life.crashed() {
            self.script.give(self.script.life.events.len());
            self.script.frozen.cancel();
        } else if self.script.cancelled(self.turn).is_none() {
            return Poll::Ready(None);
        }
        // Whoever waits here is woken by the cancellation.
        Poll::Pending
    }
}
