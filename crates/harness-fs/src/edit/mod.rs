//! Literal edits: one algorithm for every provider.

mod apply;
mod hunk;
mod line_index;
mod near;
mod normal;
mod refusal;
mod request;
mod span;

pub use apply::{Edited, apply_edit};
pub use hunk::{DiffLine, Hunk};
pub use near::NearMiss;
pub use refusal::EditRefusal;
pub use request::{Changes, EditOutcome, EditRequest};

/// Largest file that can be edited, in bytes.
pub const MAX_EDIT_BYTES: u64 = 64 * 1024 * 1024;

/// Most line numbers that an outcome or a refusal lists.
pub const MAX_REPORTED_LINES: usize = 10;
