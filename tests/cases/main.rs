//! The numbered cases, driven through the built binary against the scripted model server. Each test looks at the
//! world that the program left: files, processes, the session log, the request bodies.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and looks at real files"
)]

mod backends;
mod bad_input;
mod budgets;
mod cli;
mod compaction;
mod compression;
mod crash;
mod demo;
mod disk;

mod export;
mod files;
mod hooks;
mod hooks_cli;
mod hygiene;
mod models;
mod prefix;
mod repair;
mod replay;
mod retries;
mod sessions_removed;
mod shell;
mod signals;
mod stream;
mod transcript;

use harness_llm_mock::Reply;
use harness_testkit::Rig;
use serde_json::Value;

/// A world whose model gives these replies.
pub(crate) fn rig(replies: impl IntoIterator<Item = Reply>) -> Rig {
    Rig::new(env!("CARGO_BIN_EXE_harness"), replies)
}

/// A call of a tool with these arguments, as a reply.
#[expect(clippy::needless_pass_by_value, reason = "calls read better with the `json!` in place")]
pub(crate) fn call(id: &str, tool: &str, arguments: Value) -> Reply {
    harness_llm_mock::tc(id, tool, arguments.to_string())
}
