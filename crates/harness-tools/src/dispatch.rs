//! Phases 4 and 5: around execution, and the body.
use std::sync::Arc;

use harness_kernel::{Ctx, contain, contain_sync};
use harness_llm::Message;
use tokio::sync::{Semaphore, oneshot};

use crate::admit::{AdmittedCall, Verdict, aborted_before};
use crate::call::{CallToken, ToolCall};
use crate::decision::ListenerError;
use crate::erased::Produced;
use crate::events::Execute;
use crate::failure::{ToolFailure, ToolFailureCode, listener_failed};
use crate::outcome::ToolReturn;
use crate::registry::{Entry, Tools};
use crate::run::ToolRun;

pub(crate) enum Candidate {
    /// `tools/post-execute` sees it.
    Open(ToolReturn),
    /// `tools/post-execute` sees it, but nothing makes it a success.
    Denied(ToolFailure),
    /// No later waterfall sees it.
    Final(ToolFailure),
}

/// A call that has run or will not.
pub struct DispatchedCall {
    pub(crate) call: ToolCall,
    pub(crate) entry: Option<Arc<Entry>>,
    pub(crate) candidate: Candidate,
    pub(crate) contexts: Vec<Message>,
}
impl DispatchedCall {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }
}

impl Tools {
    /// Runs the body inside `tools/execute`, or carries a refusal on. A body that has started is always awaited,
    /// unless this future is dropped or `ctx` ends.
    pub async fn dispatch(&self, ctx: &Ctx, admitted: AdmittedCall) -> DispatchedCall {
        let AdmittedCall { call, entry, verdict } = admitted;
        let (candidate, contexts) = match verdict {
            Verdict::Run => execute(ctx, &call, entry.as_ref()).await,
            Verdict::Denied(failure) => (Candidate::Denied(failure), Vec::new()),
            Verdict::Final(failure) => (Candidate::Final(failure), Vec::new()),
        };
        DispatchedCall { call, entry, candidate, contexts }
    }
}

async fn execute(ctx: &Ctx, call: &ToolCall, entry: Option<&Arc<Entry>>) -> (Candidate, Vec<Message>) {
    let run = ToolRun::new(call.clone(), ctx.clone());
    let bodies = Arc::new(Semaphore::new(1));
    let core = Core {
        ctx: ctx.clone(),
        entry: entry.cloned(),
        token: call.token(),
        run: run.clone(),
        bodies: Arc::clone(&bodies),
    };
    let dispatched = call.narrow();
    let wrapped =
        ctx.waterfall(Execute(dispatched.call), move |Execute(call)| core.clone().run_to_the_end(call));
    let failed = |detail: &str| {
        let consequence = "there is no result and the tool may or may not have run";
        Candidate::Final(listener_failed("tools/execute", consequence, detail))
    };
    let candidate = match contain(wrapped).await {
        Ok(Ok(returned)) => Candidate::Open(normalise(call, entry, returned)),
        Ok(Err(error)) => failed(&error.0),
        Err(panic) => failed(&panic.to_string()),
    };
    if bodies.available_permits() == 0 {
        // A wrapper answered without waiting for the body.
        dispatched.cancel.cancel();
    }
    let over = bodies.acquire().await;
    bodies.close();
    drop(over);
    (candidate, run.take_contexts())
}

/// What `tools/execute` is around.
#[derive(Clone)]
struct Core {
    ctx: Ctx,
    entry: Option<Arc<Entry>>,
    token: CallToken,
    run: ToolRun,
    /// One permit: bodies of one call do not overlap. Closed when the call is over.
    bodies: Arc<Semaphore>,
}
impl Core {
    /// Runs the body in a task of its own: a wrapper that drops this future stops the body, but does not drop it.
    async fn run_to_the_end(self, call: ToolCall) -> Result<ToolReturn, ListenerError> {
        if call.token() != self.token {
            return Err(ListenerError::new("a listener delegated another call than the one it was given"));
        }
        let Ok(permit) = self.bodies.acquire_owned().await else {
            return Err(ListenerError::new("a listener delegated a call that is over"));
        };
        if self.ctx.is_closed() {
            return Ok(ToolReturn { made_by: Some(self.token), result: Err(aborted_before()) });
        }
        let narrowed = call.narrow();
        let stop = narrowed.cancel.drop_guard();
        let (answer, answered) = oneshot::channel();
        let (ctx, entry, run) = (self.ctx.clone(), self.entry, self.run);
        self.ctx.spawn(async move {
            let result = body(&ctx, &narrowed.call, entry, &run).await;
            drop(permit);
            // Nobody waits for it any more when a wrapper dropped the rest.
            let _ = answer.send(result);
        });
        let result = answered.await.unwrap_or_else(|_| {
            let text = "the context that the tool ran in ended, and the tool with it";
            Err(ToolFailure::new(ToolFailureCode::ABORTED, text))
        });
        stop.disarm();
        Ok(ToolReturn { made_by: Some(self.token), result })
    }
}

async fn body(
    ctx: &Ctx,
    call: &ToolCall,
    entry: Option<Arc<Entry>>,
    outer: &ToolRun,
) -> Result<Produced, ToolFailure> {
    if call.cancel_token().is_cancelled() {
        return Err(aborted_before());
    }
    let Some(entry) = entry else { return Err(unknown(call)) };
    let run = ToolRun::new(call.clone(), ctx.clone());
    let result = contain(async { entry.tool.run(call.arguments(), run.clone()).await }).await;
    for context in run.take_contexts() {
        outer.defer_context(context);
    }
    match result {
        // The effects may be there, but nobody waits for the answer: say so.
        Ok(Ok(_)) if call.caller_cancelled() => {
            Err(ToolFailure::new(ToolFailureCode::ABORTED, "cancelled while the tool was running"))
        }
        Ok(result) => result,
        Err(panic) => {
            let text = format!("tool `{}` panicked: {panic}", call.name());
            Err(ToolFailure::new(ToolFailureCode::TOOL_PANICKED, text))
        }
    }
}

pub(crate) fn unknown(call: &ToolCall) -> ToolFailure {
    ToolFailure::new(ToolFailureCode::UNKNOWN_TOOL, format!("there is no tool `{}`", call.name()))
}

/// Trusts only what this very dispatch made; a wrapper's own success is validated and rendered by the tool.
fn normalise(call: &ToolCall, entry: Option<&Arc<Entry>>, returned: ToolReturn) -> ToolReturn {
    if returned.made_by == Some(call.token()) {
        return returned;
    }
    let result = match (returned.result, entry) {
        (Ok(produced), Some(entry)) => reproduce(entry, produced.value),
        (Ok(_), None) => Err(unknown(call)),
        (Err(failure), _) => Err(failure),
    };
    ToolReturn { made_by: None, result }
}

pub(crate) fn reproduce(entry: &Entry, value: serde_json::Value) -> Result<Produced, ToolFailure> {
    let invalid = |detail: String| {
        let text = format!("the replaced value does not fit the tool's output: {detail}");
        ToolFailure::new(ToolFailureCode::INVALID_TOOL_OUTPUT, text)
    };
    match contain_sync(|| entry.tool.produce(value)) {
        Ok(produced) => produced.map_err(invalid),
        Err(panic) => Err(invalid(panic.to_string())),
    }
}
