#![doc = include_str!("../README.md")]

mod compat;
#[cfg(feature = "conformance")]
pub mod conformance;
mod decode;
mod encode;
mod endpoint;
mod failure;
mod stream;

pub use compat::{Compat, EmptyContent, MaxTokensField, ReasoningReplay};
pub use decode::{Ending, StreamDecoder};
pub use encode::Encoder;
pub use endpoint::Endpoint;
pub use failure::{CallSite, ErrorResponse, Redactor, http_failure, not_a_stream, request_id};
pub use stream::{BodyFault, chunks};
