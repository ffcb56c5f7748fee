#![doc = include_str!("../README.md")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test kit starts programs, reads the files they left, and fails by panicking"
)]

mod invocation;
mod process;
mod rig;
mod story;
mod wait;

pub use invocation::{Finished, Input, Invocation, Started};
pub use process::{alive, processes};
pub use rig::{KEY, Rig};
pub use story::{line, story};
pub use wait::wait_until;
