//! Hooks as the settings, the environment and the folders of one person say.
use std::path::{Path, PathBuf};

use harness_config::{Config, Environment, Paths};
use harness_hooks_claude::{HooksConfig, HooksSettings};

use crate::error::BundleError;
use crate::providers::transport;
use crate::settings::HttpSettings;

/// What the hooks of a run are made of.
pub fn hooks_config(
    config: &Config,
    environment: &Environment,
    paths: &Paths,
) -> Result<HooksConfig, BundleError> {
    let settings: HooksSettings = config.section()?;
    let http: HttpSettings = config.section()?;
    let environment = environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let data = paths.spill.with_file_name("hooks");
    Ok(HooksConfig { settings, environment, paths: paths.clone(), data, http: transport(&http) })
}

/// Trusts the hooks of a project as they are now. Returns the files that have some.
pub fn trust_hooks(hooks: &HooksConfig, project: &Path) -> Result<Vec<PathBuf>, BundleError> {
    Ok(harness_hooks_claude::trust_hooks(hooks, project)?)
}
