#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![expect(clippy::disallowed_methods, reason = "keeping sessions in files is what this crate does")]

mod backend;
mod batch;
mod compressor;
mod config;
mod damaged;
mod expander;
mod head;
mod layout;
mod lease;
mod line_reader;
mod list;
mod log_file;
mod opening;
mod packed_line;
mod plugin;
mod publish;
mod stored_log;
mod writer;

pub use backend::JsonlPersistence;
pub use config::{Compression, JsonlConfig};
pub use plugin::JsonlPlugin;
pub use stored_log::StoredLog;
