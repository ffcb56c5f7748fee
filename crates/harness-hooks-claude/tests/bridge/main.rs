//! The bridge on its own: tables, files, and a session without a model.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod discovery;
mod events;
mod names;
#[path = "../support/still.rs"]
mod still;
