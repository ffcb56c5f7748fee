//! Phases 6 to 8: transform, finalize, publish.
use std::sync::Arc;

use harness_kernel::{Ctx, contain, contain_sync};
use harness_llm::{Block, Message};

use crate::decision::PostToolDecision;
use crate::dispatch::{Candidate, DispatchedCall, reproduce};
use crate::events::{PostExecute, ToolResultNotice};
use crate::failure::{ToolFailure, ToolFailureCode};
use crate::outcome::{ToolOutcome, ToolReturn};
use crate::registry::Tools;
use crate::seal::listener_failed;

impl Tools {
    /// Runs `tools/post-execute`, the tool's `finalize_content` exactly once, and `tools/result`.
    pub async fn settle(&self, ctx: &Ctx, dispatched: DispatchedCall) -> Arc<ToolOutcome> {
        let DispatchedCall { call, entry, candidate, contexts: deferred } = dispatched;
        let (returned, content, contexts) = match candidate {
            Candidate::Final(failure) => (ToolReturn::failure(failure), None, deferred),
            Candidate::Open(returned) => {
                let returned = Arc::new(returned);
                let event = PostExecute { call: call.clone(), returned: Arc::clone(&returned) };
                let deciding = ctx.waterfall(event, |_| async { Ok(PostToolDecision::accept()) });
                let decision = contain(deciding).await;
                let returned = Arc::unwrap_or_clone(returned);
                match decision {
                    Ok(Ok(decision)) => apply(returned, decision, deferred, |value| match &entry {
                        Some(entry) => reproduce(entry, value),
                        None => Err(ToolFailure::new(ToolFailureCode::UNKNOWN_TOOL, "there is no such tool")),
                    }),
                    Ok(Err(error)) => (final_error(&error.0), None, deferred),
                    Err(panic) => (final_error(&panic.to_string()), None, deferred),
                }
            }
        };
        let mut outcome = freeze(returned, content, contexts);
        if let Some(entry) = &entry {
            let last_word =
                contain_sync(|| entry.tool.finalize_content(&call, &outcome.content, outcome.is_error()));
            match last_word {
                Ok(None) => {}
                Ok(Some(content)) => outcome.content = content,
                Err(panic) => {
                    let text = format!("finalize_content of tool `{}` panicked: {panic}", call.name());
                    let failure = ToolFailure::new(ToolFailureCode::TOOL_PANICKED, text);
                    let contexts = std::mem::take(&mut outcome.contexts);
                    outcome = ToolOutcome { contexts, ..ToolOutcome::synthetic(failure) };
                }
            }
        }
        let outcome = Arc::new(outcome);
        ctx.emit(&ToolResultNotice { call, outcome: Arc::clone(&outcome) });
        outcome
    }
}

fn final_error(detail: &str) -> ToolReturn {
    ToolReturn::failure(listener_failed("tools/post-execute", detail))
}

type Applied = (ToolReturn, Option<Vec<Block>>, Vec<Message>);

fn apply(
    returned: ToolReturn,
    decision: PostToolDecision,
    mut deferred: Vec<Message>,
    revalidate: impl FnOnce(serde_json::Value) -> Result<crate::erased::Produced, ToolFailure>,
) -> Applied {
    match decision {
        PostToolDecision::Accept { contexts } => {
            deferred.extend(contexts);
            (returned, None, deferred)
        }
        PostToolDecision::AcceptContent { content, contexts } => {
            deferred.extend(contexts);
            (returned, Some(content), deferred)
        }
        PostToolDecision::AcceptValue { value, contexts } => {
            deferred.extend(contexts);
            (ToolReturn { made_by: None, result: revalidate(value) }, None, deferred)
        }
        PostToolDecision::Block { feedback, contexts } => {
            let failure = ToolFailure::new(ToolFailureCode::BLOCKED, feedback);
            (ToolReturn::failure(failure), None, contexts)
        }
    }
}

fn freeze(returned: ToolReturn, content: Option<Vec<Block>>, contexts: Vec<Message>) -> ToolOutcome {
    let mut outcome = match returned.result {
        Ok(produced) => ToolOutcome {
            failure: None,
            content: produced.content,
            value: Some(Arc::new(produced.value)),
            meta: produced.meta,
            contexts: Vec::new(),
            concludes_turn: produced.concludes_turn,
        },
        Err(failure) => ToolOutcome::synthetic(failure),
    };
    outcome.contexts = contexts;
    if let Some(content) = content {
        outcome.content = content;
    }
    outcome
}
