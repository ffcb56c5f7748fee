//! The calls of one answer, recorded in the log.
use std::sync::Arc;

use async_trait::async_trait;
use harness_agent::Agent;
use harness_llm::Message;
use harness_session::{Body, Session, Step, ToolCall as CallRecord, ToolResult};
use harness_tools::{BatchError, BatchSink, CallRequest, ToolCall, ToolFailure, ToolOutcome, run_batch};
use tokio_util::sync::CancellationToken;

use crate::agent::LoopAgent;
use crate::fault::Fault;

/// Runs the calls. Returns whether one of them concluded the turn.
pub(crate) async fn run(
    agent: &Arc<LoopAgent>,
    at: Step,
    message: &Message,
    cancel: &CancellationToken,
) -> Result<bool, Fault> {
    let options = agent.options();
    let requests = message.tool_calls().zip(0..).map(|(call, position)| CallRequest {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
        session: Some(agent.id()),
        at,
        position,
        cwd: options.cwd.clone(),
        parent: None,
        cancel: cancel.child_token(),
    });
    let mut log = CallLog(&agent.session);
    let tools = &agent.services.tools;
    let report =
        run_batch(tools, &agent.ctx, requests.collect(), options.parallel_tools, cancel, &mut log).await;
    let report = report.map_err(|error| Fault::new("TOOL_BATCH", error))?;
    for context in report.contexts {
        agent.inject(context)?;
    }
    Ok(report.concludes_turn)
}

struct CallLog<'a>(&'a Arc<Session>);

#[async_trait]
impl BatchSink for CallLog<'_> {
    fn started(&mut self, call: &ToolCall) -> Result<(), BatchError> {
        self.append(Body::ToolCall(CallRecord {
            at: call.at(),
            position: call.position(),
            call_id: call.id().to_owned(),
            name: call.name().to_owned(),
            arguments: call.arguments_text().to_owned(),
            rewritten_by: call.rewritten_by().to_vec(),
        }))
    }
    async fn barrier(&mut self) -> Result<(), String> {
        self.0.flush().await.map_err(|error| error.to_string())
    }
    fn finished(&mut self, call: &ToolCall, outcome: &ToolOutcome) -> Result<(), BatchError> {
        self.append(Body::ToolResult(ToolResult {
            at: call.at(),
            position: call.position(),
            message: Arc::new(outcome.message(call)),
            error: outcome.failure.as_ref().map(ToolFailure::identity),
            meta: outcome.meta.clone(),
            usage: outcome.usage,
        }))
    }
}
impl CallLog<'_> {
    fn append(&self, body: Body) -> Result<(), BatchError> {
        self.0.append(body).map(drop).map_err(|error| BatchError(error.to_string()))
    }
}
