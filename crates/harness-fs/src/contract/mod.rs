//! The suite that every [`FileSystem`](crate::FileSystem) must pass.
//!
//! A provider's test implements [`Fixture`] and expands `file_system_contract!` with an expression that makes a fresh
//! one; each case becomes a test of its own. The test crate needs `tokio` with `macros` and `rt`.
//!
//! ```ignore
//! harness_fs::file_system_contract!(MyFixture::new());
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "cases are bodies of tests: they fail by panicking"
)]

pub mod edits;
mod fixture;
pub mod paths;
pub mod reads;
mod suite;
pub mod writes;

pub use fixture::Fixture;
