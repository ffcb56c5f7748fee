//! Phases 1 to 3: policy, approval, guards.
use std::sync::Arc;

use harness_approval::{ApprovalOutcome, ApprovalRequest, resolve};
use harness_kernel::{Ctx, contain, contain_sync};

use crate::call::ToolCall;
use crate::decision::PreToolDecision;
use crate::events::PreExecute;
use crate::failure::{ToolFailure, ToolFailureCode, listener_failed};
use crate::registry::{Entry, Tools};
use crate::seal::SealedCall;

#[derive(Debug)]
pub(crate) enum Verdict {
    /// The body runs.
    Run,
    /// It does not; `tools/post-execute` still sees the denial.
    Denied(ToolFailure),
    /// It does not, and no later waterfall sees it: the call or a listener was faulty.
    Final(ToolFailure),
}

/// A call that policy has judged.
pub struct AdmittedCall {
    pub(crate) call: ToolCall,
    pub(crate) entry: Option<Arc<Entry>>,
    pub(crate) verdict: Verdict,
}
impl AdmittedCall {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }
    /// Whether the body is to run.
    pub fn runs(&self) -> bool {
        matches!(self.verdict, Verdict::Run)
    }
}

impl Tools {
    /// Runs `tools/pre-execute`, asks if it says so, then the guards.
    pub async fn admit(&self, ctx: &Ctx, sealed: SealedCall) -> AdmittedCall {
        let SealedCall { call, entry, refused } = sealed;
        let verdict = match refused {
            Some(failure) => Verdict::Final(failure),
            None => self.judge(ctx, &call).await,
        };
        AdmittedCall { call, entry, verdict }
    }

    async fn judge(&self, ctx: &Ctx, call: &ToolCall) -> Verdict {
        let failed = |detail: &str| {
            Verdict::Final(listener_failed("tools/pre-execute", "the tool was not run", detail))
        };
        let deciding = ctx.waterfall(PreExecute(call.clone()), |_| async { Ok(PreToolDecision::Allow) });
        let decision = match call.cancel_token().run_until_cancelled(contain(deciding)).await {
            Some(Ok(Ok(decision))) => decision,
            Some(Ok(Err(error))) => return failed(&error.0),
            Some(Err(panic)) => return failed(&panic.to_string()),
            None => return Verdict::Final(aborted_before()),
        };
        match decision {
            PreToolDecision::Allow => {}
            PreToolDecision::Deny { reason } => {
                return Verdict::Denied(ToolFailure::new(ToolFailureCode::DENIED, reason));
            }
            PreToolDecision::Ask { reason } => {
                if let Err(verdict) = ask(ctx, call, reason).await {
                    return verdict;
                }
            }
        }
        for (name, guard) in Self::guards(ctx) {
            match contain_sync(|| guard(call)) {
                Ok(None) => {}
                Ok(Some(reason)) => {
                    return Verdict::Denied(ToolFailure::new(ToolFailureCode::GUARD_DENIED, reason));
                }
                Err(panic) => {
                    let text = format!("guard `{name}` failed, so the tool was not run: {panic}");
                    return Verdict::Final(ToolFailure::new(ToolFailureCode::LISTENER_FAILED, text));
                }
            }
        }
        Verdict::Run
    }
}

pub(crate) fn aborted_before() -> ToolFailure {
    ToolFailure::new(ToolFailureCode::ABORTED_BEFORE_DISPATCH, "cancelled before the tool was started")
}

async fn ask(ctx: &Ctx, call: &ToolCall, reason: Option<String>) -> Result<(), Verdict> {
    let denied = |text: String| Err(Verdict::Denied(ToolFailure::new(ToolFailureCode::DENIED, text)));
    let why = reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
    let Some(session) = call.session() else {
        return denied(format!("this call needs approval{why}, but it belongs to no session that could ask"));
    };
    let request = ApprovalRequest {
        session,
        tool: call.name().to_owned(),
        call_id: Some(call.id().to_owned()),
        arguments: call.arguments_text().to_owned(),
        reason,
    };
    match resolve(ctx, request, call.cancel_token()).await {
        ApprovalOutcome::AllowedOnce => Ok(()),
        ApprovalOutcome::Rejected { reason: Some(said) } => {
            denied(format!("the person rejected this call: {said}"))
        }
        ApprovalOutcome::Rejected { reason: None } => denied("the person rejected this call".to_owned()),
        ApprovalOutcome::Cancelled => {
            let text = "cancelled while the call waited for approval; the tool was not started";
            Err(Verdict::Denied(ToolFailure::new(ToolFailureCode::ABORTED_BEFORE_DISPATCH, text)))
        }
        ApprovalOutcome::Unavailable { detail } => {
            denied(format!("this call needs approval{why}, but {detail}"))
        }
        other => denied(format!("this call needs approval{why}; the answer was {other:?}")),
    }
}
