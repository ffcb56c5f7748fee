//! One step: a request, its answer, its tools.
use std::sync::Arc;

use harness_agent::{Agent, RequestConfig, RequestErrorDecision, RequestFailed};
use harness_llm::{Failure, FinishReason, Message, PreparedCall, Purpose, Request};
use harness_session::{Body, HeaderReason, RequestContext, RequestHeader, Step};
use harness_tools::ToolFailure;
use tokio_util::sync::CancellationToken;

use crate::agent::LoopAgent;
use crate::fault::{Fault, decide};
use crate::stream::{self, Attempt};
use crate::turn::check;
use crate::{close, tools};

/// What a step leaves to do.
pub(crate) enum StepOutcome {
    /// The model waits for the results.
    Continue,
    /// Nothing is owed.
    End,
    /// The answer was cut at the output limit; its calls were answered with errors, if it had any.
    CutOff { owes_results: bool },
}

pub(crate) async fn run(
    agent: &Arc<LoopAgent>,
    at: Step,
    cancel: &CancellationToken,
) -> Result<StepOutcome, Fault> {
    let mut attempt = 1;
    let (message, finish) = loop {
        let (prepared, request) = request(agent, at).await?;
        check(cancel)?;
        // Fail closed: what the provider is about to see must be on disk first.
        agent.session.flush().await.map_err(|error| Fault::new("NOT_DURABLE", error))?;
        check(cancel)?;
        match stream::run(agent, at, attempt, prepared, request, cancel).await? {
            Attempt::Answered(message, finish) => break (message, finish),
            Attempt::Failed(provider, failure) => {
                again(agent, at, attempt, provider, failure, cancel).await?;
                attempt += 1;
            }
        }
    };
    settle(agent, at, &message, &finish, cancel).await
}

async fn settle(
    agent: &Arc<LoopAgent>,
    at: Step,
    message: &Arc<Message>,
    finish: &FinishReason,
    cancel: &CancellationToken,
) -> Result<StepOutcome, Fault> {
    let calls = message.tool_calls().count();
    if *finish == FinishReason::MaxTokens {
        for (position, call) in message.tool_calls().enumerate() {
            let failure = ToolFailure::cut_off(&call.arguments);
            close::answer(&agent.session, at, position, &call.id, failure)?;
        }
        return Ok(StepOutcome::CutOff { owes_results: calls > 0 });
    }
    if calls == 0 {
        return Ok(StepOutcome::End);
    }
    let concluded = tools::run(agent, at, message, cancel).await?;
    check(cancel)?;
    Ok(if concluded { StepOutcome::End } else { StepOutcome::Continue })
}

/// Builds the request from configuration and log, and logs the part that is not in the messages.
async fn request(agent: &Arc<LoopAgent>, at: Step) -> Result<(Arc<dyn PreparedCall>, Arc<Request>), Fault> {
    let session = &agent.session;
    let Step { turn, step } = at;
    let event = RequestConfig { agent: agent.shared(), turn, step, config: agent.options().config };
    let config = decide(&agent.ctx, event, |event| event.config).await?;
    let prepared = agent.services.llm.prepare(&config)?;
    let specs = agent.services.tools.specs(&agent.ctx);
    let assembly = agent.services.prompt.assemble(&agent.ctx, specs).await;
    let assembly = assembly.map_err(|error| Fault::new("SYSTEM_PROMPT", error))?;
    let before = session.request_header();
    let mut header = RequestHeader {
        config: prepared.config().clone(),
        system: assembly.text(),
        tools: assembly.tools.as_slice().into(),
        reason: before.as_ref().map_or(HeaderReason::Initial, |header| header.reason),
    };
    let header = match before {
        Some(before) if *before == header => before,
        before => {
            header.reason = if before.is_none() { HeaderReason::Initial } else { HeaderReason::Change };
            let header = Arc::new(header);
            session.append(Body::RequestHeader(Arc::clone(&header)))?;
            let routed = before.is_some_and(|before| {
                (&before.config.provider, &before.config.model)
                    == (&header.config.provider, &header.config.model)
            });
            if !routed {
                let (provider, model) = (header.config.provider.clone(), header.config.model.clone());
                let context_window = prepared.model().context_window;
                session.append(Body::RequestContext(RequestContext { provider, model, context_window }))?;
            }
            header
        }
    };
    let request = Request {
        config: header.config.clone(),
        system: header.system.clone(),
        tools: Arc::clone(&header.tools),
        messages: session.messages(),
        session: Some(session.id().to_string()),
        purpose: Purpose::Step,
    };
    Ok((prepared, Arc::new(request)))
}

/// Asks whether a failed call is made again; if not, the turn fails.
async fn again(
    agent: &Arc<LoopAgent>,
    at: Step,
    attempt: u32,
    provider: String,
    failure: Failure,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    check(cancel)?;
    let Step { turn, step } = at;
    let (agent, original, cancelled) = (agent.shared(), failure.clone(), cancel.clone());
    let ctx = agent.ctx().clone();
    let event = RequestFailed { agent, turn, step, attempt, provider, failure, cancel: cancelled };
    let decision = decide(&ctx, event, |_| RequestErrorDecision::Fail).await?;
    check(cancel)?;
    match decision {
        RequestErrorDecision::Retry => Ok(()),
        RequestErrorDecision::Fail => Err(Fault::Failed(original)),
        RequestErrorDecision::FailWith(failure) => Err(Fault::Failed(failure)),
    }
}
