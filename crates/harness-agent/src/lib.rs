#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod agent;
mod context;
mod control;
#[cfg(doctest)]
mod cookbook;
mod decide;
mod error;
mod events;
mod factory;
mod inbox;
mod plugin;
mod post_step;
mod queue;
mod registry;

pub use agent::{Agent, AgentOptions, AgentStatus, Delivery, InboxPolicy};
pub use context::{ContextEdit, ContextTransform, transform_context};
pub use control::{Control, Next};
pub use decide::decide;
pub use error::{AgentError, ListenerError};
pub use events::{
    AgentCreated, AgentDisposed, AgentFailed, AgentNotice, AgentStatusChanged, InboxClaimed, InboxDiscarded,
    InboxInserted, PreStep, PreStepDecision, RequestConfig, RequestErrorDecision, RequestFailed,
    SessionStart, SessionStartSource, TurnEnding, TurnStopping,
};
pub use factory::{AgentFactory, CreateAgent};
pub use inbox::{Claimed, Inbox, InboxLists};
pub use plugin::AgentPlugin;
pub use post_step::{PostStep, PostStepDecision, post_step};
pub use queue::{QueueMode, QueueModes};
pub use registry::Agents;
