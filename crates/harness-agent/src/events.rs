//! The agent's events.
use std::convert::Infallible;
use std::sync::Arc;

use harness_kernel::{Around, Event, Notice, Parallel, Serial};
use harness_llm::{CallConfig, Failure, Message};
use harness_session::{SessionId, TurnEndReason};
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, AgentStatus};
use crate::error::ListenerError;

/// `agent/created`: an agent is live and registered.
#[derive(Clone)]
pub struct AgentCreated {
    /// The agent.
    pub agent: Arc<dyn Agent>,
}
impl Event for AgentCreated {
    const NAME: &'static str = "agent/created";
}
impl Notice for AgentCreated {}

/// Why an agent starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionStartSource {
    /// A new session, or a fork.
    Startup,
    /// A stored session goes on.
    Resume,
}

/// `agent/session-start`: awaited once before the first turn, so that what a listener injects is part of the first
/// request. It cannot prevent the start; failures are told on `agent/error`.
#[derive(Clone)]
pub struct SessionStart {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// Why it starts.
    pub source: SessionStartSource,
}
impl Event for SessionStart {
    const NAME: &'static str = "agent/session-start";
}
impl Parallel for SessionStart {
    type Error = ListenerError;
}

/// `agent/status`: the agent became idle or running.
#[derive(Clone)]
pub struct AgentStatusChanged {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// What it does now.
    pub status: AgentStatus,
}
impl Event for AgentStatusChanged {
    const NAME: &'static str = "agent/status";
}
impl Notice for AgentStatusChanged {}

/// `agent/inbox/inserted`: a message is pending.
#[derive(Clone)]
pub struct InboxInserted {
    /// The agent's identity.
    pub agent: SessionId,
    /// The message.
    pub message: Arc<Message>,
}
impl Event for InboxInserted {
    const NAME: &'static str = "agent/inbox/inserted";
}
impl Notice for InboxInserted {}

/// `agent/inbox/discarded`: a pending message was dropped.
#[derive(Clone)]
pub struct InboxDiscarded {
    /// The agent's identity.
    pub agent: SessionId,
    /// The message.
    pub message: Arc<Message>,
}
impl Event for InboxDiscarded {
    const NAME: &'static str = "agent/inbox/discarded";
}
impl Notice for InboxDiscarded {}

/// `agent/inbox/claimed`: a turn took a pending message.
#[derive(Clone)]
pub struct InboxClaimed {
    /// The agent's identity.
    pub agent: SessionId,
    /// The message.
    pub message: Arc<Message>,
    /// The turn.
    pub turn: u32,
}
impl Event for InboxClaimed {
    const NAME: &'static str = "agent/inbox/claimed";
}
impl Notice for InboxClaimed {}

/// `agent/pre-step`: around the entry of each proposed step, tool continuations included. Decides which messages
/// enter, or that none does.
#[derive(Clone)]
pub struct PreStep {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// What was claimed for this step; empty for a plain continuation.
    pub messages: Vec<Arc<Message>>,
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// Cancelled with the turn.
    pub cancel: CancellationToken,
}
impl Event for PreStep {
    const NAME: &'static str = "agent/pre-step";
}
impl Around for PreStep {
    type Output = Result<PreStepDecision, ListenerError>;
}

/// Decision of `agent/pre-step`.
#[derive(Debug, Clone, PartialEq)]
pub enum PreStepDecision {
    /// The step opens with exactly these messages.
    Enter(Vec<Arc<Message>>),
    /// No step opens; the turn ends `blocked` and the claimed messages stay removed.
    Reject {
        /// Why, for the log and the person.
        reason: Option<String>,
    },
    /// No step opens; the turn ends with this budget used up, and the claimed messages stay removed.
    Budget {
        /// Which budget, in the plural for people, for example `tokens`.
        budget: String,
        /// Its size.
        limit: u64,
    },
    /// No step opens; the turn ends with this failure.
    Fail(Failure),
}

/// `agent/request`: around the call configuration of one request: route, model, sampling. Never the messages.
#[derive(Clone)]
pub struct RequestConfig {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The configuration so far.
    pub config: CallConfig,
}
impl Event for RequestConfig {
    const NAME: &'static str = "agent/request";
}
impl Around for RequestConfig {
    type Output = Result<CallConfig, ListenerError>;
}

/// `agent/request-error`: around what happens after a failed model call, that of a step or one made for it (a summary).
/// Nothing was executed and no message entered the history, so a retry makes the same call again.
#[derive(Clone)]
pub struct RequestFailed {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// The attempt that failed, counted from 1.
    pub attempt: u32,
    /// The provider route.
    pub provider: String,
    /// The facts.
    pub failure: Failure,
    /// Cancelled with the turn: a wait before a retry must end with it.
    pub cancel: CancellationToken,
}
impl Event for RequestFailed {
    const NAME: &'static str = "agent/request-error";
}
impl Around for RequestFailed {
    type Output = Result<RequestErrorDecision, ListenerError>;
}

/// Decision of `agent/request-error`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestErrorDecision {
    /// The turn ends with the failure.
    Fail,
    /// The turn ends with this failure, which says more than the provider's own.
    FailWith(Failure),
    /// The request is made again in the same step.
    Retry,
}

/// `agent/turn-stopping`: awaited when nothing more is owed. A listener that wants another step steers; listeners
/// cannot answer, so their order cannot matter.
#[derive(Clone)]
pub struct TurnStopping {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The turn.
    pub turn: u32,
    /// Cancelled with the turn.
    pub cancel: CancellationToken,
}
impl Event for TurnStopping {
    const NAME: &'static str = "agent/turn-stopping";
}
impl Serial for TurnStopping {
    type Answer = Infallible;
}

/// `agent/turn-ending`: awaited just before `turn/end` is logged, whatever ends the turn. Listeners may still append
/// to the log; they cannot change the outcome, and their failures are told on `agent/error`.
#[derive(Clone)]
pub struct TurnEnding {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The turn.
    pub turn: u32,
    /// Why it ends.
    pub reason: TurnEndReason,
}
impl Event for TurnEnding {
    const NAME: &'static str = "agent/turn-ending";
}
impl Parallel for TurnEnding {
    type Error = ListenerError;
}

/// `agent/error`: a turn failed, or something beside it that has no other place.
#[derive(Debug, Clone)]
pub struct AgentFailed {
    /// The agent's identity.
    pub agent: SessionId,
    /// The turn, if one was open.
    pub turn: Option<u32>,
    /// The facts.
    pub failure: Failure,
}
impl Event for AgentFailed {
    const NAME: &'static str = "agent/error";
}
impl Notice for AgentFailed {}

/// `agent/notice`: something that the person should know and that is no failure of the turn: a plugin's warning, or
/// what it was asked to pass on.
#[derive(Debug, Clone)]
pub struct AgentNotice {
    /// The agent's identity.
    pub agent: SessionId,
    /// One text for people.
    pub text: String,
}
impl Event for AgentNotice {
    const NAME: &'static str = "agent/notice";
}
impl Notice for AgentNotice {}

/// `agent/disposed`: the agent is gone. Paired with every `agent/created`.
#[derive(Debug, Clone)]
pub struct AgentDisposed {
    /// The agent's identity.
    pub agent: SessionId,
}
impl Event for AgentDisposed {
    const NAME: &'static str = "agent/disposed";
}
impl Notice for AgentDisposed {}
