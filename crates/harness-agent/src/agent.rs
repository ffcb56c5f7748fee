//! The handle that every plugin programs against.
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use harness_kernel::Ctx;
use harness_llm::{CallConfig, Message, MessageId};
use harness_session::{AbortCause, InboxTarget, Session, SessionId};

use crate::error::AgentError;
use crate::queue::QueueModes;

/// What an agent does right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentStatus {
    /// Nothing.
    Idle,
    /// A turn.
    Running,
}

/// How a message is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// The list that it joins.
    pub target: InboxTarget,
    /// Whether an idle agent starts a turn for it.
    pub wake: bool,
}

/// What a cancellation does with pending input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InboxPolicy {
    /// Drop it.
    #[default]
    Clear,
    /// Keep it parked until the next waking message.
    Keep,
}

/// Settings of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentOptions {
    /// Route, model and sampling that each request starts from.
    pub config: CallConfig,
    /// The folder that tools work in.
    pub cwd: PathBuf,
    /// Most steps in one turn; a turn that needs more ends with `budget`.
    pub max_steps: u32,
    /// Most tool calls that overlap.
    pub parallel_tools: usize,
    /// How much of the inbox one boundary takes.
    pub queues: QueueModes,
}
impl AgentOptions {
    /// The defaults: 200 steps a turn, 10 overlapping tool calls, all steering, one follow-up a turn.
    pub fn new(config: CallConfig, cwd: PathBuf) -> Self {
        Self { config, cwd, max_steps: 200, parallel_tools: 10, queues: QueueModes::default() }
    }
}

/// A live agent. Its identity is that of its session.
#[async_trait]
pub trait Agent: Send + Sync {
    /// Identity.
    fn id(&self) -> SessionId {
        self.session().id()
    }
    /// The session that it drives.
    fn session(&self) -> &Arc<Session>;
    /// The scope that lives as long as the agent: register per-agent listeners, tools and guards here.
    fn ctx(&self) -> &Ctx;
    /// Its settings.
    fn options(&self) -> AgentOptions;
    /// Changes the settings from the next request on.
    fn set_options(&self, options: AgentOptions);
    /// What it does right now.
    fn status(&self) -> AgentStatus;

    /// Delivers a message. Called from an observer of the agent's own session, the delivery is deferred until the
    /// observer has returned.
    fn send(&self, message: Message, delivery: Delivery) -> Result<MessageId, AgentError>;
    /// Queues a follow-up: one message opens at most one turn.
    fn followup(&self, message: Message) -> Result<MessageId, AgentError> {
        self.send(message, Delivery { target: InboxTarget::NextTurn, wake: true })
    }
    /// Steers: taken at the nearest step boundary; an idle agent starts a turn.
    fn steer(&self, message: Message) -> Result<MessageId, AgentError> {
        self.send(message, Delivery { target: InboxTarget::NextStep, wake: true })
    }
    /// Adds context for the next request; wakes nobody.
    fn inject(&self, message: Message) -> Result<MessageId, AgentError> {
        self.send(message, Delivery { target: InboxTarget::NextStep, wake: false })
    }
    /// Takes a pending message back.
    fn withdraw(&self, message: MessageId) -> Result<(), AgentError>;
    /// Pending messages of a list, oldest first.
    fn pending(&self, target: InboxTarget) -> Vec<Arc<Message>>;

    /// Stops the current turn; the first cause wins. On an idle agent only the inbox is touched.
    fn cancel(&self, cause: AbortCause, inbox: InboxPolicy);
    /// Waits until nothing runs and nothing is about to. Says nothing about one message's outcome.
    async fn when_idle(&self);
    /// Cancels, waits for the turn to close, and takes the agent's scope down.
    async fn dispose(&self);
}
