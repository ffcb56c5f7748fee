//! Asking, fail closed.
use harness_kernel::{Ctx, Event, Notice, contain};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::request::{Answer, Approval, ApprovalOutcome, ApprovalRequest};

/// `approval/notice`: a question was asked or decided. Each question is told of exactly twice.
#[derive(Debug, Clone)]
pub struct ApprovalNotice {
    /// Pairs the two.
    pub id: String,
    /// The question.
    pub request: ApprovalRequest,
    /// `None` when it is asked, the outcome when it is decided.
    pub outcome: Option<ApprovalOutcome>,
}
impl Event for ApprovalNotice {
    const NAME: &'static str = "approval/notice";
}
impl Notice for ApprovalNotice {}

/// Asks whoever provides [`Approval`] in this scope. A missing, panicking or late answerer never allows.
pub async fn resolve(ctx: &Ctx, request: ApprovalRequest, cancel: &CancellationToken) -> ApprovalOutcome {
    let id = Uuid::now_v7().to_string();
    ctx.emit(&ApprovalNotice { id: id.clone(), request: request.clone(), outcome: None });
    let outcome = ask(ctx, request.clone(), cancel).await;
    ctx.emit(&ApprovalNotice { id, request, outcome: Some(outcome.clone()) });
    outcome
}

async fn ask(ctx: &Ctx, request: ApprovalRequest, cancel: &CancellationToken) -> ApprovalOutcome {
    let Some(answerer) = ctx.service::<dyn Approval>() else {
        return ApprovalOutcome::Unavailable { detail: "nobody can be asked in this run".to_owned() };
    };
    let asking = contain(answerer.ask(request, cancel.child_token()));
    match cancel.run_until_cancelled(asking).await {
        None => ApprovalOutcome::Cancelled,
        // A late answer does not count: the turn it belongs to is over.
        Some(_) if cancel.is_cancelled() => ApprovalOutcome::Cancelled,
        Some(Ok(Answer::AllowOnce)) => ApprovalOutcome::AllowedOnce,
        Some(Ok(Answer::Reject { reason })) => ApprovalOutcome::Rejected { reason },
        Some(Ok(Answer::Unavailable)) => {
            ApprovalOutcome::Unavailable { detail: "the answerer is not available".to_owned() }
        }
        Some(Err(panic)) => ApprovalOutcome::Unavailable { detail: format!("the answerer failed: {panic}") },
    }
}
