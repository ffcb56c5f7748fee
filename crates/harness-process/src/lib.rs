#![doc = include_str!("../README.md")]
#![expect(
    clippy::disallowed_methods,
    reason = "this crate starts processes and writes their spill files: that is its job"
)]

mod collector;
mod error;
mod exit;
mod launch;
mod leader;
mod live;
mod outcome;
mod pump;
mod registry;
mod run;
mod spawn;
mod spec;
mod spill;
mod starter;
mod stdin;
mod stream;
mod terminate;
mod text;
mod tree;

pub use collector::{Collector, Kept, OutputLimits};
pub use error::ProcessError;
pub use live::OutputChunk;
pub use outcome::{CapturedOutput, OutputStream, ProcessOutcome, StdinOutcome};
pub use registry::{kill_all, live_count};
pub use run::run;
pub use spec::{Capture, DrainLimits, Leftover, ProcessSpec, Stdin};
pub use spill::{DEFAULT_SPILL_CAP, SpillError, SpillOutcome, SpillPolicy};
