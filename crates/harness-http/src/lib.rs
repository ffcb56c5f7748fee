#![doc = include_str!("../README.md")]

mod client;
mod config;
mod error;
mod proxy;
mod timed_body;
mod timeouts;
mod tls;
mod transport;

pub use client::client;
pub use config::{HttpConfig, ProxySetting};
pub use error::HttpError;
pub use timed_body::{BodyError, TimedBody};
pub use timeouts::{ResponseTimer, StreamTimeouts, TimeoutError};
pub use transport::{TransportError, TransportKind};
