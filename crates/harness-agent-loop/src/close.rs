//! Closing: whatever happened, every requested call is answered and step and turn end in the log.
use std::sync::Arc;

use harness_session::{AppendError, Body, Session, Step, ToolResult, TurnEnd, TurnEndReason};
use harness_tools::{ToolFailure, ToolOutcome};

/// Answers a call that has no result.
pub(crate) fn answer(
    session: &Session,
    at: Step,
    position: usize,
    call_id: &str,
    failure: ToolFailure,
) -> Result<(), AppendError> {
    let outcome = ToolOutcome::synthetic(failure);
    let error = outcome.failure.as_ref().map(ToolFailure::identity);
    let position = u32::try_from(position).unwrap_or(u32::MAX);
    let message = Arc::new(outcome.message_for(call_id));
    session.append(Body::ToolResult(ToolResult { at, position, message, error, meta: None, usage: None }))?;
    Ok(())
}

/// Ends the open step. Calls that are still unanswered, which only a fault can leave, get an error result first.
pub(crate) fn step(session: &Session) -> Result<(), AppendError> {
    let Some(open) = session.open_turn() else { return Ok(()) };
    let Some(step) = open.step else { return Ok(()) };
    let at = Step { turn: open.turn, step };
    for (position, call) in open.calls.iter().enumerate().filter(|(_, call)| !call.answered) {
        answer(session, at, position, &call.id, ToolFailure::unanswered(call.started))?;
    }
    session.append(Body::StepEnd(at))?;
    Ok(())
}

/// Ends the open turn, its step first.
pub(crate) fn turn(session: &Session, reason: TurnEndReason) -> Result<(), AppendError> {
    step(session)?;
    if let Some(open) = session.open_turn() {
        session.append(Body::TurnEnd(TurnEnd { turn: open.turn, reason }))?;
    }
    Ok(())
}
