//! The tool-call pipeline, phase by phase, seen from the world: what ran, what the model is shown, who was told.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod arguments;
mod batch;
mod batch_faults;
mod batch_properties;
mod batch_rig;
mod cancellation;
mod execute;
mod finalize;
mod fixture;
mod listener_failures;
mod policy;
mod post_execute;
mod prepare;
mod registry;
