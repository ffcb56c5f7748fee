//! The `fs/*` events: who may touch what is decided here, outside the provider.

mod access;
mod decision;
mod denial;
mod event;
mod owner;
mod workspace;

pub use access::FileAccess;
pub use decision::{EditDecision, ReadDecision, WriteDecision};
pub use denial::Denial;
pub use event::{EditIntent, Observed, ReadIntent, Seen, WriteIntent};
pub use owner::Owner;
pub use workspace::Workspace;
