//! What the program hands to this plugin.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use secrecy::SecretString;

use crate::limits::BashLimits;

/// Everything that the executor needs from its program. This crate reads no environment by itself.
#[derive(Clone)]
pub struct BashLocalConfig {
    /// Timeouts and sizes.
    pub limits: BashLimits,
    /// The environment that commands start from, as captured by the program; see the README for what is removed
    /// from it and what is set.
    pub base_env: Vec<(OsString, OsString)>,
    /// Further names to remove, compared without regard to case: the variables that hold provider keys.
    pub secret_names: Vec<String>,
    /// Values that no variable may hold, whatever its name: the provider keys themselves.
    pub secret_values: Vec<SecretString>,
    /// Private folder for outputs that are too long for a result.
    pub spill_directory: PathBuf,
}

impl BashLocalConfig {
    /// Default limits and no secrets beyond those that a name gives away.
    pub fn new(
        base_env: impl IntoIterator<Item = (OsString, OsString)>,
        spill_directory: impl Into<PathBuf>,
    ) -> Self {
        Self {
            limits: BashLimits::default(),
            base_env: base_env.into_iter().collect(),
            secret_names: Vec::new(),
            secret_values: Vec::new(),
            spill_directory: spill_directory.into(),
        }
    }
}

impl fmt::Debug for BashLocalConfig {
    /// Shows no part of the environment: it may hold secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("BashLocalConfig");
        debug.field("limits", &self.limits).field("spill_directory", &self.spill_directory);
        debug.field("base_env", &format_args!("{} variables", self.base_env.len())).finish_non_exhaustive()
    }
}
