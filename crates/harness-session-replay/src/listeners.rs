//! In the place of the plugins around turns, steps and requests: what the record says they decided.
use std::sync::Arc;

use harness_agent::{
    ContextTransform, ListenerError, PostStep, PostStepDecision, PreStep, PreStepDecision, RequestConfig,
    RequestErrorDecision, RequestFailed, TurnEnding,
};
use harness_kernel::Ctx;
use harness_llm::{Failure, FailureCode};
use harness_session::{FlushError, SessionFlush, Step, TurnEndReason};
use harness_system_prompt::{Assemble, Order, Section};

use crate::abort::Moment;
use crate::script::Script;

/// The beginning of what a barrier says when it fails.
const NOT_SAVED: &str = "the session could not be saved: ";

pub(crate) fn register(ctx: &Ctx, script: &Arc<Script>) {
    let shared = Arc::clone(script);
    ctx.around::<PreStep, _>(move |event, _| {
        let script = Arc::clone(&shared);
        async move { Ok(pre_step(&script, &event).await) }
    });
    let shared = Arc::clone(script);
    ctx.around::<RequestConfig, _>(move |event, _| {
        shared.requesting(Step { turn: event.turn, step: event.step });
        let header = shared.step().and_then(|step| step.header.clone());
        async move { Ok(header.map_or(event.config, |header| header.config.clone())) }
    });
    let shared = Arc::clone(script);
    ctx.around::<Assemble, _>(move |Assemble(mut assembly), _| {
        if let Some(header) = shared.step().and_then(|step| step.header.clone()) {
            let system =
                header.system.iter().map(|text| Section::new("recorded", Order::IDENTITY, Arc::clone(text)));
            assembly.sections = system.collect();
            assembly.tools = header.tools.to_vec();
        }
        async move { Ok(assembly) }
    });
    let shared = Arc::clone(script);
    ctx.around::<ContextTransform, _>(move |event, _| {
        if let Some(step) = shared.life.step(event.turn, event.step) {
            shared.give(shared.life.next_made(step.entered + 1));
        }
        async move { Ok(event.edits) }
    });
    let shared = Arc::clone(script);
    ctx.around::<RequestFailed, _>(move |event, _| {
        let script = Arc::clone(&shared);
        async move { request_failed(&script, &event).await }
    });
    let shared = Arc::clone(script);
    ctx.around::<PostStep, _>(move |event, _| {
        let script = Arc::clone(&shared);
        async move { Ok(post_step(&script, &event).await) }
    });
    let shared = Arc::clone(script);
    ctx.on_parallel::<TurnEnding, _>(move |event| {
        let script = Arc::clone(&shared);
        async move {
            turn_ending(&script, &event).await;
            Ok(())
        }
    });
    let shared = Arc::clone(script);
    ctx.on_parallel::<SessionFlush, _>(move |_| {
        let script = Arc::clone(&shared);
        async move { saving(&script) }
    });
}

async fn pre_step(script: &Script, event: &PreStep) -> PreStepDecision {
    let life = &script.life;
    let turn = life.turn(event.turn);
    let step = life.step(event.turn, event.step);
    let end = turn.and_then(|turn| turn.end.as_ref());
    match step.map(|step| step.start).or(end.map(|(index, _)| *index)) {
        Some(next) => script.give(next),
        None if life.crashed() => script.freeze().await,
        None => {}
    }
    if script.cancel_at(event.turn, Moment::PreStep(event.step)) {
        return PreStepDecision::Enter(Vec::new());
    }
    if let Some(step) = step {
        return PreStepDecision::Enter(step.messages.clone());
    }
    let decided = |what: &str| script.count(what);
    match end.map(|(_, reason)| reason) {
        Some(TurnEndReason::Blocked { reason }) => {
            decided("rejections before a step");
            PreStepDecision::Reject { reason: reason.clone() }
        }
        Some(TurnEndReason::Budget { budget, limit }) => {
            decided("budgets that ended a turn");
            PreStepDecision::Budget { budget: budget.clone(), limit: *limit }
        }
        Some(TurnEndReason::Error { failure }) => {
            decided("failures before a step");
            PreStepDecision::Fail(failure.clone())
        }
        Some(_) if event.messages.is_empty() => PreStepDecision::Enter(Vec::new()),
        _ => {
            let text = format!("the record has no step {}.{}", event.turn, event.step);
            PreStepDecision::Fail(Failure::new(FailureCode::other("NOT_RECORDED"), text))
        }
    }
}

async fn request_failed(
    script: &Script,
    event: &RequestFailed,
) -> Result<RequestErrorDecision, ListenerError> {
    let Some(step) = script.life.step(event.turn, event.step) else { return Ok(RequestErrorDecision::Fail) };
    let next = event.attempt + 1;
    let again = step.attempts.contains_key(&next)
        || step.answer.as_ref().is_some_and(|answer| answer.attempt == next);
    if let Some(attempt) = step.attempts.get(&event.attempt) {
        script.give(script.life.next_made(attempt.last + 1));
    }
    if again {
        script.count("retries");
        return Ok(RequestErrorDecision::Retry);
    }
    if script.cancel_at(event.turn, Moment::RequestFailed(event.step, event.attempt)) {
        return Ok(RequestErrorDecision::Fail);
    }
    match script.life.turn(event.turn).and_then(|turn| turn.reason()) {
        Some(TurnEndReason::Error { failure }) if *failure != event.failure => {
            script.count("failures in other words");
            Ok(RequestErrorDecision::FailWith(failure.clone()))
        }
        None if script.life.crashed() => {
            script.freeze().await;
            Ok(RequestErrorDecision::Fail)
        }
        _ => Ok(RequestErrorDecision::Fail),
    }
}

async fn post_step(script: &Script, event: &PostStep) -> PostStepDecision {
    let life = &script.life;
    let end = life.step(event.turn, event.step).and_then(|step| step.end);
    let next = end.map_or(life.events.len(), |end| life.next_made(end + 1));
    if next < life.events.len() {
        script.give(next);
    } else if life.crashed() {
        script.freeze().await;
    }
    if script.cancel_at(event.turn, Moment::PostStep(event.step)) {
        return PostStepDecision::Continue;
    }
    let turn = life.turn(event.turn);
    let last =
        turn.and_then(|turn| turn.steps.last_key_value()).is_some_and(|(number, _)| *number == event.step);
    match turn.and_then(|turn| turn.reason()) {
        Some(TurnEndReason::Stopped { reason }) if last => {
            script.count("stops after a step");
            PostStepDecision::Stop { reason: reason.clone() }
        }
        _ => PostStepDecision::Continue,
    }
}

async fn turn_ending(script: &Script, event: &TurnEnding) {
    match script.life.turn(event.turn).and_then(|turn| turn.end.as_ref()) {
        Some((index, _)) => script.give(*index),
        None if script.life.crashed() => script.freeze().await,
        None => {}
    }
    script.prepare_turn(event.turn + 1);
}

fn saving(script: &Script) -> Result<(), FlushError> {
    if !script.saving_fails() {
        return Ok(());
    }
    let failure = script.request().and_then(|(at, _)| match script.life.turn(at.turn)?.reason()? {
        TurnEndReason::Error { failure } => failure.message.strip_prefix(NOT_SAVED),
        _ => None,
    });
    Err(FlushError(failure.unwrap_or("as recorded").to_owned()))
}

impl Script {
    /// Settings that the log shows only by what came of them.
    pub(crate) fn prepare_turn(&self, turn: u32) {
        let Some(agent) = self.agent.get() else { return };
        let mut options = agent.options();
        options.max_steps = match self.life.turn(turn).and_then(|turn| turn.reason()) {
            Some(TurnEndReason::Budget { budget, limit }) if budget == "steps" => {
                u32::try_from(*limit).unwrap_or(u32::MAX)
            }
            _ => u32::MAX,
        };
        options.queues = self.life.queues();
        let steps = self.life.turns.values().flat_map(|turn| turn.steps.values());
        options.parallel_tools = steps.map(|step| step.overlap).max().unwrap_or(1).max(1);
        agent.set_options(options);
    }
}
