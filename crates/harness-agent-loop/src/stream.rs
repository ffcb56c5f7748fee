//! One attempt at a model call: chunks to live observers and, packed, to the log.
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use harness_llm::{Chunk, Failure, FailureCode, FinishReason, Message, PreparedCall, Request, StreamCall};
use harness_session::{ChunkRecorder, Session, SessionGate, Step};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::agent::LoopAgent;
use crate::fault::Fault;

/// The longest that a chunk stays out of the log.
const LOG_EVERY: Duration = Duration::from_millis(200);

/// How an attempt ended.
pub(crate) enum Attempt {
    /// The answer, logged, and how it finished.
    Answered(Arc<Message>, FinishReason),
    /// The provider route and the facts. No message entered the history.
    Failed(String, Failure),
}

pub(crate) async fn run(
    agent: &Arc<LoopAgent>,
    at: Step,
    attempt: u32,
    prepared: Arc<dyn PreparedCall>,
    request: Arc<Request>,
    cancel: &CancellationToken,
) -> Result<Attempt, Fault> {
    let session = &agent.session;
    let (provider, model) = (request.config.provider.clone(), request.config.model.clone());
    let mut recorder = ChunkRecorder::new(at, attempt);
    let call = StreamCall::new(prepared, request, cancel.child_token());
    let call = call.gated(Arc::new(SessionGate(Arc::clone(session))));
    let received = receive(agent, at, attempt, call, &mut recorder, cancel).await;
    log_run(session, &mut recorder)?;
    received?;
    if cancel.is_cancelled() {
        if let Some(draft) = recorder.interrupted(&provider, &model) {
            session.append(draft)?;
        }
        return Err(Fault::Aborted);
    }
    let finish = recorder.finish().map(|finish| finish.reason.clone());
    match finish {
        Some(finish) if finish.failure().is_none() => {
            let draft = recorder.message(&provider, &model);
            let message = draft.message().map(Arc::clone).ok_or_else(|| Fault::new("LOOP", "no answer"))?;
            session.append(draft)?;
            Ok(Attempt::Answered(message, finish))
        }
        finish => {
            let failure = finish.as_ref().and_then(FinishReason::failure).cloned().unwrap_or_else(|| {
                Failure::new(FailureCode::STREAM_CLOSED, "the model stream ended without a finish")
            });
            Ok(Attempt::Failed(provider, failure))
        }
    }
}

/// Takes chunks until the finish or the cancellation, whichever comes first.
async fn receive(
    agent: &Arc<LoopAgent>,
    at: Step,
    attempt: u32,
    call: StreamCall,
    recorder: &mut ChunkRecorder,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    let session = &agent.session;
    let mut cancelled = pin!(cancel.cancelled());
    let opening = pin!(agent.services.llm.stream(&agent.ctx, call));
    let mut stream = tokio::select! {
        biased;
        () = &mut cancelled => return Ok(()),
        stream = opening => stream,
    };
    let mut due = pin!(tokio::time::sleep(LOG_EVERY));
    let mut waiting = false;
    loop {
        let chunk = tokio::select! {
            biased;
            () = &mut cancelled => return Ok(()),
            () = &mut due, if waiting => {
                waiting = false;
                log_run(session, recorder)?;
                continue;
            }
            chunk = stream.next() => chunk,
        };
        let Some(chunk) = chunk else { return Ok(()) };
        session.publish(at, attempt, &chunk);
        let full = recorder.push(session.clock().now_ms(), &chunk);
        if matches!(chunk, Chunk::Finish(_)) {
            return Ok(());
        }
        if full {
            waiting = false;
            log_run(session, recorder)?;
        } else if !waiting {
            waiting = true;
            due.as_mut().reset(Instant::now() + LOG_EVERY);
        }
    }
}

fn log_run(session: &Session, recorder: &mut ChunkRecorder) -> Result<(), Fault> {
    if let Some(run) = recorder.take_run() {
        let event = session.append(run)?;
        recorder.logged(event.seq);
    }
    Ok(())
}
