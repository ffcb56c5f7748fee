//! Phases 4 and 5: around execution, and the body.
use std::sync::Arc;

use harness_kernel::{Ctx, contain};
use harness_llm::Message;

use crate::admit::{AdmittedCall, Verdict, aborted_before};
use crate::call::ToolCall;
use crate::decision::ListenerError;
use crate::erased::Produced;
use crate::events::Execute;
use crate::failure::{ToolFailure, ToolFailureCode};
use crate::outcome::ToolReturn;
use crate::registry::{Entry, Tools};
use crate::run::ToolRun;
use crate::seal::listener_failed;

pub(crate) enum Candidate {
    /// `tools/post-execute` sees it.
    Open(ToolReturn),
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
    /// Runs the body inside `tools/execute`, or carries a refusal on. A body that has started is always awaited.
    pub async fn dispatch(&self, ctx: &Ctx, admitted: AdmittedCall) -> DispatchedCall {
        let AdmittedCall { call, entry, verdict } = admitted;
        let (candidate, contexts) = match verdict {
            Verdict::Run => execute(ctx, &call, entry.as_ref()).await,
            Verdict::Denied(failure) => (Candidate::Open(ToolReturn::failure(failure)), Vec::new()),
            Verdict::Final(failure) => (Candidate::Final(failure), Vec::new()),
        };
        DispatchedCall { call, entry, candidate, contexts }
    }
}

async fn execute(ctx: &Ctx, call: &ToolCall, entry: Option<&Arc<Entry>>) -> (Candidate, Vec<Message>) {
    let run = ToolRun::new(call.clone(), ctx.clone());
    let (core_ctx, core_entry, core_run, token) = (ctx.clone(), entry.cloned(), run.clone(), call.token());
    let wrapped = ctx.waterfall(Execute(call.clone()), move |Execute(inner): Execute| {
        let (ctx, entry, run) = (core_ctx.clone(), core_entry.clone(), core_run.clone());
        async move {
            if inner.token() != token {
                return Err(ListenerError::new(
                    "a listener delegated another call than the one it was given",
                ));
            }
            let result = body(&ctx, &inner, entry, &run).await;
            Ok(ToolReturn { made_by: Some(token), result })
        }
    });
    let candidate = match contain(wrapped).await {
        Ok(Ok(returned)) => Candidate::Open(normalise(call, entry, returned)),
        Ok(Err(error)) => Candidate::Final(listener_failed("tools/execute", &error.0)),
        Err(panic) => Candidate::Final(listener_failed("tools/execute", &panic.to_string())),
    };
    (candidate, run.take_contexts())
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
    let Some(entry) = entry else {
        let text = format!("there is no tool `{}`", call.name());
        return Err(ToolFailure::new(ToolFailureCode::UNKNOWN_TOOL, text));
    };
    let run = ToolRun::new(call.clone(), ctx.clone());
    let result = contain(entry.tool.run(call.arguments(), run.clone())).await;
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

/// Trusts only what this very dispatch made; a wrapper's own success is validated and rendered by the tool.
fn normalise(call: &ToolCall, entry: Option<&Arc<Entry>>, returned: ToolReturn) -> ToolReturn {
    if returned.made_by == Some(call.token()) {
        return returned;
    }
    let result = match (returned.result, entry) {
        (Ok(produced), Some(entry)) => reproduce(entry, produced.value),
        (Ok(_), None) => {
            let text = format!("there is no tool `{}`", call.name());
            Err(ToolFailure::new(ToolFailureCode::UNKNOWN_TOOL, text))
        }
        (Err(failure), _) => Err(failure),
    };
    ToolReturn { made_by: None, result }
}

pub(crate) fn reproduce(entry: &Entry, value: serde_json::Value) -> Result<Produced, ToolFailure> {
    let invalid = |detail: String| {
        let text = format!("the replaced value does not fit the tool's output: {detail}");
        ToolFailure::new(ToolFailureCode::INVALID_TOOL_OUTPUT, text)
    };
    match harness_kernel::contain_sync(|| entry.tool.produce(value)) {
        Ok(produced) => produced.map_err(invalid),
        Err(panic) => Err(invalid(panic.to_string())),
    }
}
