//! The event after a step.
use std::sync::Arc;

use harness_kernel::{Around, Event};
use harness_llm::Message;
use harness_session::{Body, Step};
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::decide::decide;
use crate::error::{AgentError, ListenerError};

/// `agent/post-step`: around the end of each step, its results logged and nothing further claimed from the inbox.
/// Decides whether the turn goes on as it would, or stops here.
#[derive(Clone)]
pub struct PostStep {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The turn.
    pub turn: u32,
    /// The step that ended.
    pub step: u32,
    /// Whether nothing is owed: without steering the turn would end by itself.
    pub ending: bool,
    /// Cancelled with the turn.
    pub cancel: CancellationToken,
}
impl PostStep {
    /// What the model said in the step.
    pub fn answer(&self) -> Option<Arc<Message>> {
        self.logged(|body| match body {
            Body::AssistantMessage(answer) => Some(&answer.message),
            _ => None,
        })
        .pop()
    }
    /// The tool results of the step, in the model's order.
    pub fn results(&self) -> Vec<Arc<Message>> {
        self.logged(|body| match body {
            Body::ToolResult(result) => Some(&result.message),
            _ => None,
        })
    }
    fn logged(&self, pick: fn(&Body) -> Option<&Arc<Message>>) -> Vec<Arc<Message>> {
        let view = self.agent.session().view();
        let start = Step { turn: self.turn, step: self.step };
        let events = (0..view.len()).rev().filter_map(|seq| view.get(seq));
        let step = events.take_while(|event| !matches!(&event.body, Body::StepStart(at) if *at == start));
        let mut found: Vec<_> = step.filter_map(|event| pick(&event.body).map(Arc::clone)).collect();
        found.reverse();
        found
    }
}
impl Event for PostStep {
    const NAME: &'static str = "agent/post-step";
}
impl Around for PostStep {
    type Output = Result<PostStepDecision, ListenerError>;
}

/// Decision of `agent/post-step`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostStepDecision {
    /// The turn goes on, or ends when nothing is owed.
    Continue,
    /// The turn ends `stopped`. What is pending at this moment stays in the inbox and waits for the next word.
    Stop {
        /// Why, for the log and the person.
        reason: String,
    },
}

/// Asks the listeners of `agent/post-step`; for loops.
///
/// # Errors
/// [`AgentError::Listener`] if one of them fails or panics.
pub async fn post_step(
    agent: Arc<dyn Agent>,
    at: Step,
    ending: bool,
    cancel: &CancellationToken,
) -> Result<PostStepDecision, AgentError> {
    let ctx = agent.ctx().clone();
    let event = PostStep { agent, turn: at.turn, step: at.step, ending, cancel: cancel.clone() };
    decide(&ctx, event, |_| PostStepDecision::Continue).await
}
