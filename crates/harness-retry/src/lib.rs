#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod class;
mod events;
mod jitter;
mod plugin;
mod policy;

pub use class::FailureClass;
pub use events::{RetryScheduled, RetryStopped, StopReason};
pub use plugin::Retry;
pub use policy::{ProviderRetry, RetryConfig, RetryConfigError, RetryPolicy};
