#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod cost;
mod estimate;
mod events;
mod measure;
mod plugin;
mod tally;

pub use cost::{Cost, Price, Prices};
pub use estimate::{header_tokens, message_tokens, text_tokens};
pub use events::{CallUsage, TurnUsage};
pub use measure::{Measure, measure};
pub use plugin::TokenMeter;
pub use tally::Tally;
