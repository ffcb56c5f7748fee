//! All calls of one assistant message: a bounded pool, results in model order, every call answered once.
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use harness_kernel::Ctx;
use harness_llm::Message;
use tokio::sync::oneshot;
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
impl BatchError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        "tool-batch-not-recorded"
    }
}

/// Where a batch writes what happens.
///
/// ```
/// use harness_tools::{BatchError, BatchSink, ToolCall, ToolOutcome};
///
/// #[derive(Default)]
/// struct Transcript(Vec<String>);
/// #[async_trait::async_trait]
/// impl BatchSink for Transcript {
///     fn started(&mut self, call: &ToolCall) -> Result<(), BatchError> {
///         self.0.push(format!("{} {}", call.name(), call.arguments_text()));
///         Ok(())
///     }
///     async fn barrier(&mut self) -> Result<(), String> {
///         Ok(()) // nothing is stored
///     }
///     fn finished(&mut self, call: &ToolCall, outcome: &ToolOutcome) -> Result<(), BatchError> {
///         self.0.push(format!("{} failed: {}", call.name(), outcome.is_error()));
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait BatchSink: Send {
    /// The call starts; not told of calls whose arguments do not fit. On an error its body does not run, nothing
    /// more is started, and the batch ends when all calls that were started before are answered.
    fn started(&mut self, call: &ToolCall) -> Result<(), BatchError>;
    /// Everything told so far must be durable before a body runs. On an error no body of the group runs.
    async fn barrier(&mut self) -> Result<(), String>;
    /// The call is answered. Comes in model order, exactly once a call. On an error nothing more is told.
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
/// barrier. Policy, post-processing and records keep model order; only bodies overlap, and a result is recorded as
/// soon as those before it are, even while a later call waits for approval. After cancellation nothing new starts,
/// started bodies are awaited, and every remaining call is answered.
///
/// The cancellation of each request must be `cancel` itself or a child of it: that is what a body sees.
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
        cancel,
        limit: limit.max(1),
        waiting: requests.into(),
        held: None,
        gathered: VecDeque::new(),
        judging: None,
        running: JoinSet::new(),
        exclusive: false,
        settled: BTreeMap::new(),
        spawned: 0,
        committed: 0,
        report: BatchReport::default(),
    };
    let result = batch.run(sink).await;
    // A refused record must not leave a body running behind the caller's back.
    while batch.running.join_next().await.is_some() {}
    result.map(|()| batch.report)
}

struct Batch<'a> {
    tools: &'a Arc<Tools>,
    ctx: &'a Ctx,
    cancel: &'a CancellationToken,
    limit: usize,
    waiting: VecDeque<CallRequest>,
    /// Sealed, but must wait until it is alone: a listener rewrote it into a call that cannot overlap.
    held: Option<SealedCall>,
    /// Recorded as started, not yet before policy.
    gathered: VecDeque<SealedCall>,
    /// Resolved when policy has judged the newest running call: only then the next one may be judged.
    judging: Option<oneshot::Receiver<()>>,
    running: JoinSet<(usize, DispatchedCall)>,
    /// Nothing starts until the one running call is recorded.
    exclusive: bool,
    settled: BTreeMap<usize, DispatchedCall>,
    spawned: usize,
    committed: usize,
    report: BatchReport,
}

impl Batch<'_> {
    async fn run(&mut self, sink: &mut dyn BatchSink) -> Result<(), BatchError> {
        let mut broken = None;
        loop {
            if broken.is_none()
                && let Err(error) = self.gather(sink).await
            {
                let text =
                    format!("the session could not record the calls, so the tool was not run: {error}");
                self.refuse_gathered(&ToolFailure::new(ToolFailureCode::NOT_DURABLE, text));
                broken = Some(error);
            }
            self.judge_next();
            self.commit_ready(sink).await?;
            if !self.running.is_empty() {
                self.progress().await?;
            } else if let Some(error) = broken {
                return Err(error);
            } else if self.cancel.is_cancelled() {
                return self.answer_rest(sink).await;
            } else if self.waiting.is_empty() && self.held.is_none() {
                return Ok(());
            }
        }
    }

    /// Takes the next group: one exclusive call, or as many overlapping ones as fit, behind one barrier.
    async fn gather(&mut self, sink: &mut dyn BatchSink) -> Result<(), BatchError> {
        if !self.gathered.is_empty() || self.is_judging() {
            return Ok(());
        }
        let mut unsaved = false;
        while !self.exclusive && self.running.len() + self.gathered.len() < self.limit {
            let alone = self.committed == self.spawned && self.gathered.is_empty();
            let Some(sealed) = self.seal_next(alone).await else { break };
            let parallel = sealed.parallel();
            if self.cancel.is_cancelled() || !(parallel || alone) {
                self.held = Some(sealed);
                break;
            }
            if sealed.proceeds() {
                sink.started(sealed.call())?;
                unsaved = true;
            }
            self.exclusive = !parallel;
            self.gathered.push_back(sealed);
        }
        if unsaved && let Err(error) = sink.barrier().await {
            let text = format!("the session could not be saved, so the tool was not run: {error}");
            self.refuse_gathered(&ToolFailure::new(ToolFailureCode::NOT_DURABLE, text));
        }
        Ok(())
    }

    /// Seals the next call, unless it has to wait anyway: what runs before it may change what it comes to.
    async fn seal_next(&mut self, alone: bool) -> Option<SealedCall> {
        if self.cancel.is_cancelled() {
            return None;
        }
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        let next = self.waiting.pop_front_if(|next| alone || Tools::may_overlap(self.ctx, next))?;
        Some(self.tools.seal(self.ctx, next).await)
    }

    fn refuse_gathered(&mut self, failure: &ToolFailure) {
        self.gathered.iter_mut().for_each(|sealed| sealed.refuse(failure.clone()));
    }

    fn is_judging(&mut self) -> bool {
        let judging = self.judging.as_mut().map(oneshot::Receiver::try_recv);
        matches!(judging, Some(Err(oneshot::error::TryRecvError::Empty)))
    }

    /// Puts the next call before policy, in a task of its own, so that results are recorded meanwhile.
    fn judge_next(&mut self) {
        if self.is_judging() {
            return;
        }
        self.judging = None;
        let Some(mut sealed) = self.gathered.pop_front() else { return };
        if self.cancel.is_cancelled() {
            sealed.refuse(aborted_before());
        }
        let (judged, judging) = oneshot::channel();
        let (tools, ctx, at) = (Arc::clone(self.tools), self.ctx.clone(), self.spawned);
        self.running.spawn(async move {
            let admitted = tools.admit(&ctx, sealed).await;
            // Nobody waits for it any more when the batch was dropped.
            let _ = judged.send(());
            (at, tools.dispatch(&ctx, admitted).await)
        });
        self.spawned += 1;
        self.judging = Some(judging);
    }

    /// Waits until a call is judged or has run.
    async fn progress(&mut self) -> Result<(), BatchError> {
        let judged = async {
            match &mut self.judging {
                Some(judging) => judging.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = judged => self.judging = None,
            joined = self.running.join_next() => match joined {
                Some(Ok((at, dispatched))) => drop(self.settled.insert(at, dispatched)),
                Some(Err(lost)) => return Err(BatchError(format!("a tool task was lost: {lost}"))),
                None => {}
            }
        }
        Ok(())
    }

    async fn commit_ready(&mut self, sink: &mut dyn BatchSink) -> Result<(), BatchError> {
        while let Some(dispatched) = self.settled.remove(&self.committed) {
            self.commit(sink, dispatched).await?;
            self.committed += 1;
            self.exclusive = false;
        }
        Ok(())
    }

    async fn commit(
        &mut self,
        sink: &mut dyn BatchSink,
        dispatched: DispatchedCall,
    ) -> Result<(), BatchError> {
        let call = dispatched.call().clone();
        let outcome = self.tools.settle(self.ctx, dispatched).await;
        sink.finished(&call, &outcome)?;
        self.report.contexts.extend(outcome.contexts.iter().cloned());
        self.report.concludes_turn |= outcome.concludes_turn;
        Ok(())
    }

    /// Answers what was never started. Tools and observers learn of it as of any other outcome.
    async fn answer_rest(&mut self, sink: &mut dyn BatchSink) -> Result<(), BatchError> {
        let held = self.held.take();
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let refused = waiting.map(|request| Tools::seal_refused(self.ctx, request, aborted_before()));
        let rest: Vec<SealedCall> = held.into_iter().chain(refused).collect();
        for mut sealed in rest {
            sealed.refuse(aborted_before());
            let admitted = self.tools.admit(self.ctx, sealed).await;
            let dispatched = self.tools.dispatch(self.ctx, admitted).await;
            self.commit(sink, dispatched).await?;
        }
        Ok(())
    }
}
