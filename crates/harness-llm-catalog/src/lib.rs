#![doc = include_str!("../README.md")]

mod model;
mod provider;

pub use model::{KnownModel, KnownPrice, find, models, models_of};
pub use provider::{KnownProvider, provider, providers};
