#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod assembly;
mod plugin;
mod section;
mod service;

pub use assembly::{Assemble, AssembleError, Assembly};
pub use plugin::SystemPromptPlugin;
pub use section::{Order, Section};
pub use service::{SectionError, SystemPrompt};
