//! Phases 6 to 8: transform, finalize, publish.
use std::sync::Arc;

use harness_kernel::{Ctx, contain, contain_sync};
use harness_llm::{Block, Message};

use crate::annotate::annotate;
use crate::call::ToolCall;
use crate::decision::PostToolDecision;
use crate::dispatch::{Candidate, DispatchedCall, reproduce, unknown};
use crate::events::{PostExecute, ToolResultNotice};
use crate::failure::{ToolFailure, ToolFailureCode, listener_failed};
use crate::outcome::{ToolOutcome, ToolReturn};
use crate::registry::{Entry, Tools};

impl Tools {
    /// Runs `tools/post-execute`, `tools/annotate`, the tool's `finalize_content` exactly once, keeps the result
    /// within the cap, and tells it on `tools/result`.
    pub async fn settle(&self, ctx: &Ctx, dispatched: DispatchedCall) -> Arc<ToolOutcome> {
        let DispatchedCall { call, entry, candidate, contexts } = dispatched;
        let entry = entry.as_deref();
        let annotated = !matches!(candidate, Candidate::Final(_));
        let mut outcome = match candidate {
            Candidate::Final(failure) => freeze(ToolReturn::failure(failure), None, contexts),
            Candidate::Denied(failure) => {
                transform(ctx, &call, entry, ToolReturn::failure(failure), true, contexts).await
            }
            Candidate::Open(returned) => transform(ctx, &call, entry, returned, false, contexts).await,
        };
        if annotated {
            annotate(ctx, &call, &mut outcome).await;
        }
        if let Some(entry) = entry {
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
        if let Some(content) = self.cap().apply(&outcome.content) {
            outcome.content = content;
        }
        let outcome = Arc::new(outcome);
        ctx.emit(&ToolResultNotice { call, outcome: Arc::clone(&outcome) });
        outcome
    }
}

/// Applies the decision of `tools/post-execute`.
async fn transform(
    ctx: &Ctx,
    call: &ToolCall,
    entry: Option<&Entry>,
    returned: ToolReturn,
    denied: bool,
    mut deferred: Vec<Message>,
) -> ToolOutcome {
    let failed = |detail: &str| {
        ToolReturn::failure(listener_failed("tools/post-execute", "the result is withheld", detail))
    };
    let returned = Arc::new(returned);
    let event = PostExecute { call: call.clone(), returned: Arc::clone(&returned) };
    let deciding = ctx.waterfall(event, |_| async { Ok(PostToolDecision::accept()) });
    let decision = match contain(deciding).await {
        Ok(Ok(decision)) => decision,
        Ok(Err(error)) => return freeze(failed(&error.0), None, deferred),
        Err(panic) => return freeze(failed(&panic.to_string()), None, deferred),
    };
    let returned = Arc::unwrap_or_clone(returned);
    match decision {
        PostToolDecision::Accept { contexts } => {
            deferred.extend(contexts);
            freeze(returned, None, deferred)
        }
        PostToolDecision::AcceptContent { content, contexts } => {
            deferred.extend(contexts);
            freeze(returned, Some(content), deferred)
        }
        PostToolDecision::AcceptValue { value, contexts } => {
            deferred.extend(contexts);
            let result = match (returned.result, entry) {
                (Err(denial), _) if denied => {
                    let text = format!("it gave a value to a call that was denied: {}", denial.message);
                    return freeze(failed(&text), None, deferred);
                }
                (_, Some(entry)) => reproduce(entry, value),
                (_, None) => Err(unknown(call)),
            };
            freeze(ToolReturn { made_by: None, result }, None, deferred)
        }
        PostToolDecision::Block { feedback, contexts } => {
            let failure = ToolFailure::new(ToolFailureCode::BLOCKED, feedback);
            freeze(ToolReturn::failure(failure), None, contexts)
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
            usage: None,
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
