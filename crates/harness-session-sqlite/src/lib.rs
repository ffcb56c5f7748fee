#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![expect(clippy::disallowed_methods, reason = "keeping sessions in files is what this crate does")]

mod backend;
mod config;
mod database;
mod error;
mod lease;
mod load;
mod plugin;
mod row;
mod summary;
mod thread;
mod writer;

pub use backend::SqlitePersistence;
pub use config::SqliteConfig;
pub use error::DatabaseError;
pub use plugin::SqlitePlugin;
