#![doc = include_str!("../README.md")]

mod access;
mod edit;
mod plugin;
mod read;
mod resume;
mod write;

pub use edit::{Edit, EditInput, EditOutput};
pub use plugin::ToolFs;
pub use read::{Read, ReadInput, ReadLine, ReadOutput};
pub use write::{Write, WriteInput, WriteOutput};
