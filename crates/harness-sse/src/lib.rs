#![doc = include_str!("../README.md")]

mod error;
mod event;
mod framer;
mod parser;
mod stream;
mod text;

pub use error::SseError;
pub use event::{SseEvent, SseItem, StreamEnd};
pub use stream::{DEFAULT_EVENT_LIMIT, SseStream};
