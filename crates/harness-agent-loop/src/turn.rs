//! One turn: claim, pre-step, step, until nothing is owed.
use std::sync::Arc;

use harness_agent::{
    Agent, AgentError, AgentFailed, PostStepDecision, PreStep, PreStepDecision, TurnEnding, TurnStopping,
    post_step, transform_context,
};
use harness_kernel::contain;
use harness_llm::{Failure, FailureCode, Message};
use harness_session::{AbortCause, Body, InboxTarget, Step, Turn, TurnEndReason, UserMessage};
use tokio_util::sync::CancellationToken;

use crate::agent::LoopAgent;
use crate::close;
use crate::fault::{Fault, decide};
use crate::step::{self, StepOutcome};

/// Runs one turn to its durable end. Returns the text of a failure, which parks the queue.
pub(crate) async fn run(agent: &Arc<LoopAgent>, cancel: &CancellationToken) -> Option<String> {
    let turn = agent.session.turns() + 1;
    let result = match agent.session.append(Body::TurnStart(Turn { turn })) {
        Ok(_) => contain(steps(agent, turn, cancel)).await,
        Err(error) => Ok(Err(error.into())),
    };
    let reason = match result {
        // A cancelled turn is aborted, whatever else went wrong on the way.
        _ if cancel.is_cancelled() => aborted(agent),
        Ok(Ok(reason)) => reason,
        Ok(Err(Fault::Aborted)) => aborted(agent),
        Ok(Err(Fault::Failed(failure))) => TurnEndReason::Error { failure },
        Err(panic) => {
            let failure =
                Failure::new(FailureCode::other("LOOP_PANICKED"), format!("the turn panicked: {panic}"));
            TurnEndReason::Error { failure }
        }
    };
    let failure = if let TurnEndReason::Error { failure } = &reason { Some(failure.clone()) } else { None };
    if let Some(failure) = &failure {
        report(agent, Some(turn), failure.clone());
    }
    let ending = TurnEnding { agent: agent.shared(), turn, reason: reason.clone() };
    for error in agent.ctx.parallel(ending).await {
        let text = format!("agent/turn-ending: {error}");
        report(agent, None, Failure::new(FailureCode::other("LISTENER_FAILED"), text));
    }
    if let Err(error) = close::turn(&agent.session, reason) {
        report(agent, Some(turn), Failure::new(FailureCode::other(error.code()), error.to_string()));
    }
    // Idle is published only after this barrier. A failure here is reported; the turn is over either way.
    if let Err(error) = agent.session.flush().await {
        report(agent, None, Failure::new(FailureCode::other("NOT_DURABLE"), error.to_string()));
    }
    failure.map(|failure| failure.to_string())
}

fn aborted(agent: &LoopAgent) -> TurnEndReason {
    TurnEndReason::Aborted { cause: agent.control.cause().unwrap_or(AbortCause::User) }
}

fn report(agent: &LoopAgent, turn: Option<u32>, failure: Failure) {
    agent.ctx.emit(&AgentFailed { agent: agent.id(), turn, failure });
}

async fn steps(
    agent: &Arc<LoopAgent>,
    turn: u32,
    cancel: &CancellationToken,
) -> Result<TurnEndReason, Fault> {
    let limit = agent.options().max_steps;
    let (mut target, mut ending, mut cut) = (InboxTarget::NextTurn, false, false);
    for step in 1.. {
        if step > limit {
            return Ok(TurnEndReason::Budget { budget: "steps".to_owned(), limit: limit.into() });
        }
        let claimed = agent.control.claim(target, turn, agent.options().queues)?;
        let messages = match enter(agent, Step { turn, step }, claimed, cancel).await? {
            PreStepDecision::Enter(messages) => messages,
            PreStepDecision::Reject { reason } => return Ok(TurnEndReason::Blocked { reason }),
            PreStepDecision::Budget { budget, limit } => return Ok(TurnEndReason::Budget { budget, limit }),
            PreStepDecision::Fail(failure) => return Err(Fault::Failed(failure)),
        };
        if messages.is_empty() && (step == 1 || ending) {
            break;
        }
        match one_step(agent, Step { turn, step }, messages, cancel).await? {
            StepOutcome::Continue => ending = false,
            StepOutcome::End => ending = true,
            StepOutcome::CutOff { owes_results } => {
                cut = true;
                ending = !owes_results;
            }
        }
        let decision = post_step(agent.shared(), Step { turn, step }, ending, cancel).await?;
        check(cancel)?;
        if let PostStepDecision::Stop { reason } = decision {
            agent.control.park(&reason)?;
            return Ok(TurnEndReason::Stopped { reason });
        }
        if ending && agent.control.pending(InboxTarget::NextStep).is_empty() {
            let stopping = TurnStopping { agent: agent.shared(), turn, cancel: cancel.clone() };
            let stopped = agent.ctx.serial(stopping).await;
            stopped.map_err(|panic| AgentError::listener("agent/turn-stopping", panic))?;
            check(cancel)?;
            if agent.control.pending(InboxTarget::NextStep).is_empty() {
                break;
            }
        }
        target = InboxTarget::NextStep;
    }
    Ok(if cut { TurnEndReason::MaxTokens } else { TurnEndReason::Completed })
}

async fn enter(
    agent: &Arc<LoopAgent>,
    at: Step,
    messages: Vec<Arc<Message>>,
    cancel: &CancellationToken,
) -> Result<PreStepDecision, Fault> {
    check(cancel)?;
    let event =
        PreStep { agent: agent.shared(), messages, turn: at.turn, step: at.step, cancel: cancel.clone() };
    let decision = decide(&agent.ctx, event, |event| PreStepDecision::Enter(event.messages)).await?;
    check(cancel)?;
    Ok(decision)
}

async fn one_step(
    agent: &Arc<LoopAgent>,
    at: Step,
    messages: Vec<Arc<Message>>,
    cancel: &CancellationToken,
) -> Result<StepOutcome, Fault> {
    agent.session.append(Body::StepStart(at))?;
    for message in messages {
        agent.session.append(Body::UserMessage(UserMessage { message }))?;
    }
    let outcome = match transform_context(agent.shared(), at, cancel).await {
        Ok(()) => step::run(agent, at, cancel).await,
        Err(error) => Err(error.into()),
    };
    close::step(&agent.session)?;
    outcome
}

pub(crate) fn check(cancel: &CancellationToken) -> Result<(), Fault> {
    if cancel.is_cancelled() { Err(Fault::Aborted) } else { Ok(()) }
}
