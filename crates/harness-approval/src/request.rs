//! The question and its answers.
use async_trait::async_trait;
use harness_kernel::Service;
use harness_session::SessionId;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The session on whose behalf.
    pub session: SessionId,
    /// The tool.
    pub tool: String,
    /// The call, if it has one.
    pub call_id: Option<String>,
    /// The JSON text of the arguments.
    pub arguments: String,
    /// Why it is asked, for people.
    pub reason: Option<String>,
}

/// What an answerer may say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// This one call may run.
    AllowOnce,
    /// It may not, and why.
    Reject {
        /// Shown to the model, if given.
        reason: Option<String>,
    },
    /// Nobody can be asked right now.
    Unavailable,
}

/// How a question ended. Only [`ApprovalOutcome::AllowedOnce`] lets a call run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ApprovalOutcome {
    /// This one call may run.
    AllowedOnce,
    /// It was rejected.
    Rejected {
        /// Why, if said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The call was cancelled, or its asker dropped, while the question was open.
    Cancelled,
    /// Nobody could be asked.
    Unavailable {
        /// What was missing or failed.
        detail: String,
    },
}

/// Somebody who can be asked: a terminal, an editor, a policy. Optional: without one, every question is denied.
///
/// ```
/// use harness_approval::{Answer, Approval, ApprovalRequest};
/// struct ReadOnly;
/// #[async_trait::async_trait]
/// impl Approval for ReadOnly {
///     async fn ask(&self, request: ApprovalRequest, _cancel: tokio_util::sync::CancellationToken) -> Answer {
///         if request.tool == "read" { Answer::AllowOnce } else { Answer::Reject { reason: None } }
///     }
/// }
/// ```
#[async_trait]
pub trait Approval: Send + Sync {
    /// Answers one question. When the answer is no longer wanted, `cancel` is cancelled and this future is dropped:
    /// whatever it handed out (a dialog in another task) learns of it by the token.
    async fn ask(&self, request: ApprovalRequest, cancel: CancellationToken) -> Answer;
}
impl Service for dyn Approval {
    const NAME: &'static str = "approval";
}
