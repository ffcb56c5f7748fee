//! Where settings and sessions live.
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::error::ConfigError;

/// The folders of one person. By the XDG base directory specification, on every Unix; `HARNESS_HOME` moves all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The user's settings file.
    pub config_file: PathBuf,
    /// Sessions, one folder each.
    pub sessions: PathBuf,
    /// Which project files are trusted.
    pub trust_file: PathBuf,
    /// Command outputs that were too long for a result.
    pub spill: PathBuf,
}

impl Paths {
    /// Works them out from the environment, without touching a disk.
    pub fn resolve(environment: &Environment) -> Result<Self, ConfigError> {
        if let Some(home) = environment.get("HARNESS_HOME").map(Path::new) {
            // A relative one would mean another folder in each place.
            return if home.is_absolute() {
                Ok(Self::under(home))
            } else {
                Err(ConfigError::RelativeHome(home.to_owned()))
            };
        }
        let home = environment.get("HOME").map(PathBuf::from);
        // Relative values are ignored, as the specification asks.
        let base = |variable: &str, below_home: &str| {
            let set = environment.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            set.or_else(|| home.as_ref().map(|home| home.join(below_home))).ok_or(ConfigError::NoHome)
        };
        let config = base("XDG_CONFIG_HOME", ".config")?.join("harness");
        let state = base("XDG_STATE_HOME", ".local/state")?.join("harness");
        Ok(Self {
            config_file: config.join("config.toml"),
            sessions: state.join("sessions"),
            trust_file: state.join("trust.json"),
            spill: state.join("spill"),
        })
    }
    /// Everything below one folder.
    pub fn under(home: &Path) -> Self {
        Self {
            config_file: home.join("config.toml"),
            sessions: home.join("sessions"),
            trust_file: home.join("trust.json"),
            spill: home.join("spill"),
        }
    }
}

/// The root of the project that a folder belongs to: the nearest folder upwards with a `.git` entry or a
/// `.harness/config.toml`, else the folder itself. The person's own settings are not a project's: a folder whose
/// `.harness` is `HARNESS_HOME` does not count.
pub fn project_root(cwd: &Path, paths: &Paths) -> PathBuf {
    let marked = |folder: &&Path| {
        let file = folder.join(".harness").join("config.toml");
        folder.join(".git").exists() || (file != paths.config_file && file.exists())
    };
    cwd.ancestors().find(marked).unwrap_or(cwd).to_owned()
}
