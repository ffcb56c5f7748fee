//! From flags, files and environment to settings.
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use harness_bundle::sections;
use harness_config::{Config, Environment, Paths, Trust, project_root};
use serde_json::Value;

use crate::args::RunArgs;
use crate::output::Output;

/// The folder to work in, absolute.
pub(crate) fn working_folder(given: Option<&Path>) -> Result<PathBuf> {
    let current = std::env::current_dir().context("the current folder is not known")?;
    let folder = given.map_or_else(|| current.clone(), |given| current.join(given));
    let metadata =
        std::fs::metadata(&folder).with_context(|| format!("folder {} cannot be used", folder.display()))?;
    anyhow::ensure!(metadata.is_dir(), "{} is not a folder", folder.display());
    std::path::absolute(&folder).with_context(|| format!("folder {} cannot be used", folder.display()))
}

/// The settings of a folder, without flags.
pub(crate) fn settings(
    environment: &Environment,
    paths: &Paths,
    cwd: &Path,
    output: &Output,
) -> Result<Config> {
    layers(environment, paths, cwd, output).map(harness_config::ConfigBuilder::build)
}

/// The settings for a look at one provider: its route, perhaps at another address.
pub(crate) fn provider_settings(
    provider: Option<&str>,
    base_url: Option<&str>,
    environment: &Environment,
    paths: &Paths,
    output: &Output,
) -> Result<Config> {
    let mut builder = layers(environment, paths, &working_folder(None)?, output)?;
    let provider = provider.or_else(|| base_url.map(|_| "openai"));
    if let Some(provider) = provider {
        builder = builder.flag("PROVIDER", &["model", "provider"], provider.into());
    }
    if let (Some(url), Some(provider)) = (base_url, provider) {
        builder = builder.flag("--base-url", &["providers", provider, "base_url"], url.into());
    }
    Ok(builder.build())
}

/// The settings of a run.
pub(crate) fn run_settings(
    args: &RunArgs,
    environment: &Environment,
    paths: &Paths,
    cwd: &Path,
    output: &Output,
) -> Result<Config> {
    let mut builder = layers(environment, paths, cwd, output)?;
    if let Some(model) = &args.model {
        builder = builder.flag("--model", &["model", "name"], model.clone().into());
    }
    // An address without a provider means the common protocol under its common name.
    let provider = args.provider.clone().or_else(|| args.base_url.as_ref().map(|_| "openai".to_owned()));
    if let Some(provider) = &provider {
        builder = builder.flag("--provider", &["model", "provider"], provider.clone().into());
    }
    if let (Some(url), Some(provider)) = (&args.base_url, &provider) {
        builder = builder.flag("--base-url", &["providers", provider, "base_url"], url.clone().into());
    }
    if let Some(steps) = args.max_steps {
        builder = builder.flag("--max-steps", &["agent", "max_steps"], steps.into());
    }
    if let Some(tokens) = args.max_tokens {
        builder = builder.flag("--max-tokens", &["budget", "max_tokens"], tokens.into());
    }
    if let Some(usd) = args.max_cost {
        builder = builder.flag("--max-cost", &["budget", "max_cost"], usd.into());
    }
    if !args.allow.is_empty() {
        builder = builder.extend_flag("--allow", &["permissions", "allow"], &list(&args.allow));
    }
    if !args.deny.is_empty() {
        builder = builder.extend_flag("--deny", &["permissions", "deny"], &list(&args.deny));
    }
    if !args.settings.is_empty() {
        let here = working_folder(None)?;
        let files =
            args.settings.iter().map(|file| Value::from(here.join(file).to_string_lossy().into_owned()));
        builder = builder.extend_flag("--settings", &["hooks", "files"], &files.collect());
    }
    if args.trust_project_hooks {
        builder = builder.flag("--trust-project-hooks", &["hooks", "trust_project"], true.into());
    }
    Ok(builder.build())
}

fn layers(
    environment: &Environment,
    paths: &Paths,
    cwd: &Path,
    output: &Output,
) -> Result<harness_config::ConfigBuilder> {
    let trust = Trust::load(&paths.trust_file)?;
    let builder = sections(Config::builder())
        .user_file(&paths.config_file)?
        .project_file(&project_root(cwd, paths), &trust)?
        .environment(environment)?;
    for notice in builder.notices() {
        output.talk(&format!("harness: {}", notice.0));
    }
    Ok(builder)
}

fn list(items: &[String]) -> Value {
    items.iter().cloned().map(Value::String).collect()
}
