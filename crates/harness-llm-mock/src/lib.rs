#![doc = include_str!("../README.md")]

mod error;
mod gates;
mod http;
mod ledger;
mod plan;
mod queue;
mod recorded;
mod reply;
mod script;
mod server;
mod step;
mod token_usage;
mod unstreamed;
mod wire;

pub use error::MockError;
pub use recorded::RecordedRequest;
pub use reply::{End, Reply, tc, txt};
pub use script::{Script, ScriptFormat, WhenExhausted};
pub use server::{MockServer, Options, Recording};
pub use step::{Drip, Step, ToolCall};
pub use token_usage::{TokenReport, TokenUsage};
pub use wire::WireFormat;
