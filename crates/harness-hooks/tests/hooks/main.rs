//! The checks of the protocol, each with real programs on real pipes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod codec;
mod command;
mod conditions;
mod files;
mod listener;
mod matchers;
mod models;
mod order;
mod rig;
mod schemas;
mod serving;
mod webhooks;
