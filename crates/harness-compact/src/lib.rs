#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod after;
mod before;
mod compactor;
mod error;
mod events;

pub use after::AfterCompact;
pub use before::{BeforeCompact, BeforeCompactDecision};
pub use compactor::{Compacted, Compactor, SOURCE, Trigger};
pub use error::CompactError;
pub use events::{CompactBegin, CompactEnd, CompactOutcome, CompactPruned};
