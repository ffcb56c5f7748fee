//! Where a turn was cancelled, read from what it left behind.
use harness_llm::FinishReason;
use harness_session::{AbortCause, Body, TurnEndReason};

use crate::life::Life;
use crate::record::StepRecord;

/// A moment of a turn at which a listener of this crate is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before a step.
    PreStep(u32),
    /// While a step's attempt streams; after its last recorded chunk.
    Stream(u32, u32),
    /// After a failed attempt.
    RequestFailed(u32, u32),
    /// Before a call has an identity.
    Prepare(u32, u32),
    /// Before policy has judged a call.
    PreExecute(u32, u32),
    /// While a call's body runs.
    Execute(u32, u32),
    /// After a step.
    PostStep(u32),
}

/// When a turn was cancelled, and by whom; none if it was not.
pub(crate) fn cancelled(life: &Life, turn: u32) -> Option<(Moment, AbortCause)> {
    let record = life.turn(turn)?;
    let TurnEndReason::Aborted { cause } = record.reason()? else { return None };
    let moment = match record.steps.last_key_value() {
        None => Moment::PreStep(1),
        Some((number, step)) => within(life, *number, step),
    };
    Some((moment, cause.clone()))
}

fn within(life: &Life, number: u32, step: &StepRecord) -> Moment {
    let Some(answer) = &step.answer else {
        let last = step.attempts.last_key_value();
        return match last.map(|(attempt, record)| (*attempt, record.finish())) {
            None => Moment::Stream(number, 1),
            Some((attempt, Some(FinishReason::Error { .. }))) => Moment::RequestFailed(number, attempt),
            Some((attempt, _)) => Moment::Stream(number, attempt),
        };
    };
    if answer.interrupted {
        return Moment::Stream(number, answer.attempt);
    }
    let unrun = step.calls.iter().zip(0u32..).any(|(call, _)| !call.dispatched());
    let last = step
        .calls
        .iter()
        .rposition(crate::record::CallRecord::dispatched)
        .and_then(|at| u32::try_from(at).ok());
    let cut_off = answer.finish == Some(FinishReason::MaxTokens);
    if unrun && !cut_off && step.calls.iter().any(|call| call.code() == Some("ABORTED_BEFORE_DISPATCH")) {
        let first = last.map_or(0, |last| last + 1);
        return match (step.call(first), last) {
            (Some(call), _) if call.started.is_some() => Moment::PreExecute(number, first),
            (_, Some(last)) => Moment::Execute(number, last),
            _ => Moment::Prepare(number, first),
        };
    }
    if let Some(position) =
        last.filter(|at| step.call(*at).is_some_and(|call| call.code() == Some("ABORTED")))
    {
        return Moment::Execute(number, position);
    }
    // It was over: what came next says whether the next one was on its way.
    let claimed = step.end.is_some_and(|end| {
        life.events[end..].iter().take_while(|event| !matches!(event.body, Body::TurnEnd(_))).any(|event| {
            matches!(&event.body, Body::InboxSpliced(change) if change.inserted.is_empty() && !change.canceled)
        })
    });
    if claimed { Moment::PreStep(number + 1) } else { Moment::PostStep(number) }
}
