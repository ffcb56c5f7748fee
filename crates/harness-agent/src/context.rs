//! The event that changes the history, and the edits that it consists of: operations on the log.
use std::sync::Arc;

use harness_kernel::{Around, Event};
use harness_llm::{Block, Message, Role, ToolResultBlock};
use harness_session::{Body, Draft, Seq, Session, Step, SurfaceError, ToolResult, UserMessage};
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::decide::decide;
use crate::error::{AgentError, ListenerError};

/// `agent/context`: around the history of each step's request, once the step's own messages are in it. What comes out
/// is a list of edits, each of which becomes an operation in the log before the request is made: the model sees them,
/// a resumed session has them, and the next step starts from them. An edit is therefore made once, not at every
/// request, and it costs the provider's cache from the place that it touches.
#[derive(Clone)]
pub struct ContextTransform {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The edits so far.
    pub edits: Vec<ContextEdit>,
    /// Cancelled with the turn.
    pub cancel: CancellationToken,
}
impl ContextTransform {
    /// The history as the next request would have it, with the events that it stands in, oldest first.
    pub fn history(&self) -> Vec<(Seq, Arc<Message>)> {
        self.agent.session().with_derivation(|derived| {
            let entries = derived.entries();
            entries.filter_map(|(seq, message)| message.map(|message| (seq, Arc::clone(message)))).collect()
        })
    }
}
impl Event for ContextTransform {
    const NAME: &'static str = "agent/context";
}
impl Around for ContextTransform {
    type Output = Result<Vec<ContextEdit>, ListenerError>;
}

/// One change of the history. There is none that would touch what the model said, or part a call from its result.
#[derive(Debug, Clone, PartialEq)]
pub enum ContextEdit {
    /// A message takes the place of a range, which stays in the log. The range must hold calls together with their
    /// results.
    Replace {
        /// First event of the range.
        first: Seq,
        /// Last event of the range.
        last: Seq,
        /// What the model sees in its place: a user message without tool blocks.
        message: Message,
    },
    /// The model sees other content in one tool result. Call and outcome stay.
    Result {
        /// The event of the result.
        seq: Seq,
        /// The content.
        content: Vec<Block>,
    },
    /// A message joins at the end: a user message without tool blocks.
    Append(Message),
}

/// Asks the listeners of `agent/context` and logs their edits, in order; for loops.
///
/// # Errors
/// If a listener fails or an edit does not fit. Edits before that one are in the log and hold.
pub async fn transform_context(
    agent: Arc<dyn Agent>,
    at: Step,
    cancel: &CancellationToken,
) -> Result<(), AgentError> {
    let (ctx, session) = (agent.ctx().clone(), Arc::clone(agent.session()));
    let (Step { turn, step }, cancel) = (at, cancel.clone());
    let event = ContextTransform { agent, turn, step, edits: Vec::new(), cancel };
    for edit in decide(&ctx, event, |event| event.edits).await? {
        session.append(draft(&session, edit)?)?;
    }
    Ok(())
}

fn draft(session: &Session, edit: ContextEdit) -> Result<Draft, AgentError> {
    match edit {
        ContextEdit::Append(message) => Ok(Draft::new(context(message)?)),
        ContextEdit::Replace { first, last, message } => {
            let surface: Vec<Seq> = session.with_derivation(|derived| derived.surface().collect());
            let find = |seq| surface.iter().position(|at| *at == seq);
            let range = find(first).zip(find(last)).and_then(|(first, last)| surface.get(first..=last));
            // What does not stand there in this order is refused with its reason when it is appended.
            let sources = range.unwrap_or_default().to_vec();
            Ok(Draft::new(context(message)?).replacing(first, last).citing(sources))
        }
        ContextEdit::Result { seq, content } => {
            let event = session.view().get(seq);
            let Some(Body::ToolResult(old)) = event.as_ref().map(|event| &event.body) else {
                return Err(AgentError::Append(SurfaceError::ResultMismatch.into()));
            };
            let [Block::ToolResult(block)] = old.message.content.as_slice() else {
                return Err(AgentError::Append(SurfaceError::ResultMismatch.into()));
            };
            let (call_id, is_error) = (block.call_id.clone(), block.is_error);
            let message = Arc::new(Message::tool_result(ToolResultBlock { call_id, content, is_error }));
            let body = Body::ToolResult(ToolResult { message, ..old.clone() });
            Ok(Draft::new(body).replacing(seq, seq).citing(vec![seq]))
        }
    }
}

fn context(message: Message) -> Result<Body, AgentError> {
    let tools = |block: &Block| matches!(block, Block::ToolCall(_) | Block::ToolResult(_));
    if message.role != Role::User || message.content.iter().any(tools) {
        return Err(AgentError::ContextEdit("its message is not a user message without tool blocks"));
    }
    Ok(Body::UserMessage(UserMessage { message: Arc::new(message) }))
}
