#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "reading the environment and the settings files is this crate's job"
)]

mod config;
mod describe;
mod environment;
mod error;
mod file;
mod layer;
mod paths;
mod schema;
mod section;
mod source;
mod trust;

pub use config::{Config, ConfigBuilder, Notice};
pub use describe::{Setting, settings_schema};
pub use environment::Environment;
pub use error::ConfigError;
pub use paths::{Paths, project_root};
pub use section::{ProjectKeys, Section, SectionInfo};
pub use source::Source;
pub use trust::Trust;
