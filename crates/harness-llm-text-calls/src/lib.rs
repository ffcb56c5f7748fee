#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod detect;
mod plugin;
mod read;

pub use plugin::{TextCallLogged, TextCalls, TextCallsConfig};
pub use read::{ReadCall, TextForm, read_call};
