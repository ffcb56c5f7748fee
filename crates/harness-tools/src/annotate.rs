//! The phase between the decision on a result and the tool's last word: what the log says beside the content.
use std::sync::Arc;

use harness_kernel::{Around, Ctx, Event, contain};
use harness_llm::{Block, Usage};
use serde_json::Value;

use crate::call::ToolCall;
use crate::decision::ListenerError;
use crate::failure::listener_failed;
use crate::outcome::ToolOutcome;

/// What is noted about a result. None of it is shown to the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultNotes {
    /// Facts for displays and programs, logged with the result; at first those of the tool.
    pub details: Option<Value>,
    /// What the call used of models by itself, logged with the result.
    pub usage: Option<Usage>,
    /// Whether the turn ends with this step.
    pub concludes_turn: bool,
}

/// `tools/annotate`: around the notes on a result, after `tools/post-execute` has decided what it is. Listeners can
/// neither change the content nor make a success of a failure, or the other way round. It comes for the same calls
/// as `tools/post-execute`.
#[derive(Debug, Clone)]
pub struct Annotate {
    /// The call.
    pub call: ToolCall,
    /// What the model will be shown, unless the tool has a last word.
    pub content: Arc<Vec<Block>>,
    /// Whether the call failed.
    pub is_error: bool,
    /// The notes so far.
    pub notes: ResultNotes,
}
impl Event for Annotate {
    const NAME: &'static str = "tools/annotate";
}
impl Around for Annotate {
    type Output = Result<ResultNotes, ListenerError>;
}

/// Puts the notes into the outcome. A listener that fails ends the call with an error, as in every phase.
pub(crate) async fn annotate(ctx: &Ctx, call: &ToolCall, outcome: &mut ToolOutcome) {
    let ToolOutcome { meta, usage, concludes_turn, .. } = &*outcome;
    let notes = ResultNotes { details: meta.clone(), usage: *usage, concludes_turn: *concludes_turn };
    let (is_error, content) = (outcome.is_error(), Arc::new(std::mem::take(&mut outcome.content)));
    let event = Annotate { call: call.clone(), content: Arc::clone(&content), is_error, notes };
    let failed = match contain(ctx.waterfall(event, |event| async move { Ok(event.notes) })).await {
        Ok(Ok(ResultNotes { details, usage, concludes_turn })) => {
            (outcome.meta, outcome.usage, outcome.concludes_turn) = (details, usage, concludes_turn);
            outcome.content = Arc::unwrap_or_clone(content);
            return;
        }
        Ok(Err(error)) => error.0,
        Err(panic) => panic.to_string(),
    };
    let contexts = std::mem::take(&mut outcome.contexts);
    let failure = listener_failed("tools/annotate", "the result is withheld", &failed);
    *outcome = ToolOutcome { contexts, ..ToolOutcome::synthetic(failure) };
}
