//! What can be wrong with settings.
use std::path::PathBuf;

use crate::source::Source;

/// A setting or settings file that cannot be used. Each message names the place and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not TOML.
    #[error("{path}:{line}: not valid TOML: {detail}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What the parser says.
        detail: String,
    },
    /// Nobody knows this key.
    #[error("{at}: unknown setting `{key}`{}", hint(.suggestion.as_deref()))]
    UnknownKey {
        /// Where it stands.
        at: Source,
        /// The key with its section.
        key: String,
        /// A known key that looks like it.
        suggestion: Option<String>,
    },
    /// The value does not fit.
    #[error("{at}: setting `{key}`: {detail}")]
    Value {
        /// Where it stands.
        at: Source,
        /// The key with its section.
        key: String,
        /// What is wrong.
        detail: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// There is no place for settings and sessions.
    #[error("no home folder is known: set HOME, or set HARNESS_HOME to a folder for settings and sessions")]
    NoHome,
    /// `HARNESS_HOME` would mean another folder in each place.
    #[error("HARNESS_HOME is {0}, which is not an absolute path; write it out in full, from /")]
    RelativeHome(PathBuf),
}
impl ConfigError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "CONFIG_SYNTAX",
            Self::UnknownKey { .. } => "CONFIG_UNKNOWN_KEY",
            Self::Value { .. } => "CONFIG_VALUE",
            Self::Io { .. } => "CONFIG_IO",
            Self::NoHome => "CONFIG_NO_HOME",
            Self::RelativeHome(_) => "CONFIG_RELATIVE_HOME",
        }
    }
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(
        || "; `harness config show` lists all settings".to_owned(),
        |known| format!("; did you mean `{known}`?"),
    )
}
