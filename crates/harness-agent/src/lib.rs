#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod agent;
mod control;
mod error;
mod events;
mod factory;
mod inbox;
mod plugin;
mod registry;

pub use agent::{Agent, AgentOptions, AgentStatus, Delivery, InboxPolicy};
pub use control::{Control, Next};
pub use error::{AgentError, ListenerError};
pub use events::{
    AgentCreated, AgentDisposed, AgentFailed, AgentNotice, AgentStatusChanged, InboxClaimed, InboxDiscarded,
    InboxInserted, PreStep, PreStepDecision, RequestConfig, RequestErrorDecision, RequestFailed,
    SessionStart, SessionStartSource, TurnEnding, TurnStopping,
};
pub use factory::{AgentFactory, CreateAgent};
pub use inbox::{Claimed, Inbox, InboxLists};
pub use plugin::AgentPlugin;
pub use registry::Agents;
