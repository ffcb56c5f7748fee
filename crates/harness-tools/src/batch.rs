//! All calls of one assistant message: a bounded pool, results in model order, every call answered once.
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use harness_kernel::Ctx;
use harness_llm::Message;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::admit::aborted_before;
use crate::call::{CallRequest, ToolCall};
use crate::dispatch::DispatchedCall;
use crate::failure::{ToolFailure, ToolFailureCode};
use crate::outcome::ToolOutcome;
use crate::registry::Tools;
use crate::seal::SealedCall;

/// Why a batch could not go on: its records were refused or a worker was lost. Started bodies were awaited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool calls could not be recorded: {0}")]
pub struct BatchError(pub String);

/// Where a batch writes what happens.
#[async_trait]
pub trait BatchSink: Send {
    /// The call starts; not told of calls whose arguments do not fit.
    fn started(&mut self, call: &ToolCall) -> Result<(), BatchError>;
    /// Everything told so far must be durable before a body runs. On an error no body of the group runs.
    async fn barrier(&mut self) -> Result<(), String>;
    /// The call is answered. Comes in model order, exactly once a call.
    fn finished(&mut self, call: &ToolCall, outcome: &ToolOutcome) -> Result<(), BatchError>;
}

/// What a batch came to.
#[derive(Debug, Clone, Default)]
pub struct BatchReport {
    /// Messages that follow all results.
    pub contexts: Vec<Message>,
    /// Whether a tool concluded the turn.
    pub concludes_turn: bool,
}

/// Runs the calls of one message. Calls that are safe to overlap share a pool of `limit`; any other call is a
/// barrier. Policy, post-processing and records keep model order; only bodies overlap. After cancellation nothing
/// new starts, started bodies are awaited, and every remaining call is answered.
pub async fn run_batch(
    tools: &Arc<Tools>,
    ctx: &Ctx,
    requests: Vec<CallRequest>,
    limit: usize,
    cancel: &CancellationToken,
    sink: &mut dyn BatchSink,
) -> Result<BatchReport, BatchError> {
    let mut batch = Batch {
        tools,
        ctx,
        limit: limit.max(1),
        waiting: requests.into(),
        sealed: None,
        running: JoinSet::new(),
        exclusive: false,
        settled: BTreeMap::new(),
        started: 0,
        committed: 0,
        report: BatchReport::default(),
    };
    let result = batch.run(cancel, sink).await;
    // A refused record must not leave a body running behind the caller's back.
    while batch.running.join_next().await.is_some() {}
    result.map(|()| batch.report)
}

struct Batch<'a> {
    tools: &'a Arc<Tools>,
    ctx: &'a Ctx,
    limit: usize,
    waiting: VecDeque<CallRequest>,
    /// Sealed but not yet startable.
    sealed: Option<SealedCall>,
    running: JoinSet<(usize, DispatchedCall)>,
    exclusive: bool,
    settled: BTreeMap<usize, DispatchedCall>,
    started: usize,
    committed: usize,
    report: BatchReport,
}

impl Batch<'_> {
    async fn run(&mut self, cancel: &CancellationToken, sink: &mut dyn BatchSink) -> Result<(), BatchError> {
        loop {
            if !cancel.is_cancelled() {
                self.start_ready(sink).await?;
            }
            self.commit_ready(sink).await?;
            match self.running.join_next().await {
                Some(Ok((at, dispatched))) => {
                    self.exclusive = false;
                    self.settled.insert(at, dispatched);
                }
                Some(Err(lost)) => return Err(BatchError(format!("a tool task was lost: {lost}"))),
                None if self.committed < self.started => {}
                None if cancel.is_cancelled() => return self.answer_rest(sink),
                None if self.waiting.is_empty() && self.sealed.is_none() => return Ok(()),
                None => {}
            }
        }
    }

    /// Starts the next group: one exclusive call, or as many overlapping ones as fit, behind one barrier.
    async fn start_ready(&mut self, sink: &mut dyn BatchSink) -> Result<(), BatchError> {
        let mut group = Vec::new();
        while !self.exclusive && self.running.len() + group.len() < self.limit {
            let sealed = match (self.sealed.take(), self.waiting.pop_front()) {
                (Some(sealed), request) => {
                    if let Some(request) = request {
                        self.waiting.push_front(request);
                    }
                    sealed
                }
                (None, Some(request)) => self.tools.seal(self.ctx, request).await,
                (None, None) => break,
            };
            let alone = self.committed == self.started && group.is_empty();
            if !sealed.parallel() && !alone {
                self.sealed = Some(sealed);
                break;
            }
            if sealed.proceeds() {
                sink.started(sealed.call())?;
            }
            self.exclusive = !sealed.parallel();
            group.push(sealed);
        }
        if group.is_empty() {
            return Ok(());
        }
        let durable = if group.iter().any(SealedCall::proceeds) { sink.barrier().await } else { Ok(()) };
        for sealed in group {
            let mut admitted = self.tools.admit(self.ctx, sealed).await;
            if let Err(error) = &durable {
                let text = format!("the session could not be saved, so the tool was not run: {error}");
                admitted = admitted.refuse(ToolFailure::new(ToolFailureCode::NOT_DURABLE, text));
            }
            let (tools, ctx, at) = (Arc::clone(self.tools), self.ctx.clone(), self.started);
            self.running.spawn(async move { (at, tools.dispatch(&ctx, admitted).await) });
            self.started += 1;
        }
        Ok(())
    }

    async fn commit_ready(&mut self, sink: &mut dyn BatchSink) -> Result<(), BatchError> {
        while let Some(dispatched) = self.settled.remove(&self.committed) {
            let call = dispatched.call().clone();
            let outcome = self.tools.settle(self.ctx, dispatched).await;
            self.committed += 1;
            self.record(sink, &call, &outcome)?;
        }
        Ok(())
    }

    fn record(
        &mut self,
        sink: &mut dyn BatchSink,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> Result<(), BatchError> {
        sink.finished(call, outcome)?;
        self.report.contexts.extend(outcome.contexts.iter().cloned());
        self.report.concludes_turn |= outcome.concludes_turn;
        Ok(())
    }

    fn answer_rest(&mut self, sink: &mut dyn BatchSink) -> Result<(), BatchError> {
        let sealed = self.sealed.take().map(|sealed| sealed.call);
        let rest = std::mem::take(&mut self.waiting).into_iter();
        let unsealed = rest.map(|request| ToolCall::seal(request, serde_json::Value::Null, Vec::new()));
        let calls: Vec<ToolCall> = sealed.into_iter().chain(unsealed).collect();
        for call in calls {
            self.record(sink, &call, &ToolOutcome::synthetic(aborted_before()))?;
        }
        Ok(())
    }
}
