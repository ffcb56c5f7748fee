//! The model call for the summary.
use std::sync::Arc;

use futures_util::StreamExt;
use harness_agent::{Agent, RequestErrorDecision, RequestFailed};
use harness_compact::{CompactError, SOURCE};
use harness_kernel::contain;
use harness_llm::{
    Assembler, Block, ContextForm, Failure, FailureCode, FinishReason, Llm, Message, Purpose, Request,
    StreamCall,
};
use harness_session::RequestHeader;
use harness_token_meter::CallUsage;
use tokio_util::sync::CancellationToken;

/// What the model is asked, behind the history.
pub const INSTRUCTION: &str = "\
Summarise this conversation so far. The summary replaces it: you will go on from the summary alone. Do not call a tool \
and do not go on with the task now; answer with the summary only, in these sections, and leave out those with nothing \
in them:

## Task
What was asked for, with every requirement, constraint and preference that still holds.
## State
What is done, what was found out, and how it was checked. Exact names: files, functions, commands, errors.
## Files
Each file that was read or changed and matters, and what is important in it.
## Open
What is left to do, what comes next, what failed and why.

If the conversation begins with an earlier summary, merge it in: keep what still holds.";

/// Asks the model that the conversation is with: same system prompt, tools and messages, so that the provider's cached
/// prefix is used again.
pub(crate) async fn ask(
    llm: &Llm,
    agent: &Arc<dyn Agent>,
    header: &RequestHeader,
    mut messages: Vec<Arc<Message>>,
    max_tokens: u64,
    cancel: &CancellationToken,
) -> Result<String, CompactError> {
    let mut config = header.config.clone();
    config.max_tokens = Some(config.max_tokens.map_or(max_tokens, |set| set.min(max_tokens)));
    let prepared = llm.prepare(&config).map_err(|error| CompactError::Model(error.0))?;
    messages.push(Arc::new(Message::context(SOURCE, ContextForm::Instructions, INSTRUCTION)));
    let request = Request {
        config: prepared.config().clone(),
        system: header.system.clone(),
        tools: Arc::clone(&header.tools),
        messages,
        session: Some(agent.id().to_string()),
        purpose: Purpose::Compaction,
    };
    let request = Arc::new(request);
    let mut attempt = 1;
    let answer = loop {
        let call = StreamCall::new(Arc::clone(&prepared), Arc::clone(&request), cancel.child_token());
        let mut stream = llm.stream(agent.ctx(), call).await;
        let mut assembler = Assembler::default();
        while let Some(chunk) = stream.next().await {
            assembler.push(&chunk);
        }
        let answer = assembler.finish();
        let Some(failure) = answer.finish.reason.failure() else { break answer };
        if failure.code == FailureCode::ABORTED {
            return Err(CompactError::Cancelled);
        }
        if !again(agent, attempt, &config.provider, failure, cancel).await {
            return Err(CompactError::Model(failure.clone()));
        }
        attempt += 1;
    };
    agent.session().append_plugin(&CallUsage {
        purpose: Purpose::Compaction,
        provider: config.provider,
        model: config.model,
        usage: answer.usage,
    })?;
    if answer.finish.reason == FinishReason::MaxTokens {
        return Err(CompactError::Unusable("it was cut off at the output limit"));
    }
    if answer.content.iter().any(|block| matches!(block, Block::ToolCall(_))) {
        return Err(CompactError::Unusable("it called a tool"));
    }
    let text: String = answer.content.iter().filter_map(Block::as_text).collect();
    if text.trim().is_empty() { Err(CompactError::Unusable("it is empty")) } else { Ok(text) }
}

/// Whether the failed call is made again: inside a turn, whoever retries the calls of steps decides here too.
async fn again(
    agent: &Arc<dyn Agent>,
    attempt: u32,
    provider: &str,
    failure: &Failure,
    cancel: &CancellationToken,
) -> bool {
    let Some(open) = agent.session().open_turn() else { return false };
    // A summary that is too long is not for a listener to mend, who might compact for it.
    if failure.code == FailureCode::CONTEXT_WINDOW_EXCEEDED {
        return false;
    }
    let event = RequestFailed {
        agent: Arc::clone(agent),
        turn: open.turn,
        step: open.step.unwrap_or(open.steps + 1),
        attempt,
        provider: provider.to_owned(),
        failure: failure.clone(),
        cancel: cancel.clone(),
    };
    let deciding = agent.ctx().waterfall(event, |_| async { Ok(RequestErrorDecision::Fail) });
    let again = matches!(contain(deciding).await, Ok(Ok(RequestErrorDecision::Retry)));
    again && !cancel.is_cancelled()
}
