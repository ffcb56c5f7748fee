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

/// Asks whoever provides [`Approval`] in this scope. A missing, panicking or late answerer never allows. When `cancel`
/// is cancelled, the answerer is dropped and the question is decided as cancelled.
pub async fn resolve(ctx: &Ctx, request: ApprovalRequest, cancel: &CancellationToken) -> ApprovalOutcome {
    let question = Question::open(ctx, request.clone());
    let outcome = ask(ctx, request, cancel).await;
    question.decide(outcome.clone());
    outcome
}

/// A question that is told of as decided even when its asker is dropped.
struct Question<'a> {
    ctx: &'a Ctx,
    notice: ApprovalNotice,
}
impl<'a> Question<'a> {
    fn open(ctx: &'a Ctx, request: ApprovalRequest) -> Self {
        let notice = ApprovalNotice { id: Uuid::now_v7().to_string(), request, outcome: None };
        ctx.emit(&notice);
        Self { ctx, notice }
    }
    fn decide(mut self, outcome: ApprovalOutcome) {
        self.notice.outcome = Some(outcome);
    }
}
impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.notice.outcome.get_or_insert(ApprovalOutcome::Cancelled);
        self.ctx.emit(&self.notice);
    }
}

async fn ask(ctx: &Ctx, request: ApprovalRequest, cancel: &CancellationToken) -> ApprovalOutcome {
    let Some(answerer) = ctx.service::<dyn Approval>() else {
        return ApprovalOutcome::Unavailable { detail: "nobody can be asked in this run".to_owned() };
    };
    let asking = contain(async { answerer.ask(request, cancel.child_token()).await });
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
