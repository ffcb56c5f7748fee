#![doc = include_str!("../README.md")]

mod decode;
mod encode;
mod protocol;

pub use decode::StreamDecoder;
pub use encode::Encoder;
pub use protocol::{Responses, ResponsesCompat};
