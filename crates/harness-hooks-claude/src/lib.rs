#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "transcripts, environment files and settings of another tool are this crate's job"
)]

mod alias;
mod bridge;
mod discovery;
mod fires;
mod listen;
mod log;
mod long_text;
mod oracle;
mod plugin;
mod response;
mod settings;
mod state;
mod transcript;

pub use alias::Aliases;
pub use discovery::{Discovered, candidates, discover, trust_hooks};
pub use fires::{Firing, firing};
pub use log::{HookInvoked, HookResult};
pub use plugin::HooksClaude;
pub use settings::{HooksConfig, HooksSettings};
