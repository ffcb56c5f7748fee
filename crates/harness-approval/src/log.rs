//! Questions and decisions in the session log.
use std::sync::Arc;

use harness_kernel::{Ctx, Plugin, PluginError};
use harness_session::{EventClass, EventTypeInfo, PluginEvent, Sessions};
use serde::{Deserialize, Serialize};

use crate::request::ApprovalOutcome;
use crate::resolve::ApprovalNotice;

/// `approval/asked`: a tool call waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalAsked {
    /// Pairs question and decision.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Why it is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
impl PluginEvent for ApprovalAsked {
    const TYPE: &'static str = "approval/asked";
    const CLASS: EventClass = EventClass::Standalone;
}

/// `approval/decided`: the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDecided {
    /// Pairs question and decision.
    pub id: String,
    /// How it ended.
    pub outcome: ApprovalOutcome,
}
impl PluginEvent for ApprovalDecided {
    const TYPE: &'static str = "approval/decided";
    const CLASS: EventClass = EventClass::Standalone;
}

/// Writes each question and decision to the log of its session.
#[derive(Debug, Default)]
pub struct ApprovalLog;
impl Plugin for ApprovalLog {
    type Deps = Arc<Sessions>;
    fn name(&self) -> &'static str {
        "approval-log"
    }
    async fn apply(&self, ctx: Ctx, sessions: Arc<Sessions>) -> Result<(), PluginError> {
        sessions.register_event_type(&ctx, EventTypeInfo::of::<ApprovalAsked>())?;
        sessions.register_event_type(&ctx, EventTypeInfo::of::<ApprovalDecided>())?;
        ctx.on::<ApprovalNotice>(move |notice| {
            let Some(session) = sessions.get(notice.request.session) else { return };
            let appended = match &notice.outcome {
                None => session.append_plugin(&ApprovalAsked {
                    id: notice.id.clone(),
                    tool: notice.request.tool.clone(),
                    call_id: notice.request.call_id.clone(),
                    reason: notice.request.reason.clone(),
                }),
                Some(outcome) => session
                    .append_plugin(&ApprovalDecided { id: notice.id.clone(), outcome: outcome.clone() }),
            };
            if let Err(error) = appended {
                tracing::error!(%error, "an approval could not be logged");
            }
        });
        Ok(())
    }
}
