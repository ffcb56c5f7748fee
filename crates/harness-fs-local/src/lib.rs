#![doc = include_str!("../README.md")]
#![expect(
    clippy::disallowed_methods,
    reason = "reaching the files of this machine is what this crate is for"
)]

mod attributes;
mod blocking;
mod directory;
mod edit;
mod failure;
mod in_place;
mod list;
mod local;
mod lock;
mod plugin;
mod publish;
mod read;
mod resolve;
mod staged;
mod state;
mod write;

pub use local::LocalFileSystem;
pub use plugin::FsLocal;
