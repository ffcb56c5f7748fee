//! `harness config`.
use anyhow::Result;
use harness_bundle::{hooks_config, trust_hooks};
use harness_config::{Config, Environment, Paths, Trust, project_root};

use crate::args::ConfigCommand;
use crate::compose::{settings, working_folder};
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(command: ConfigCommand, environment: &Environment, output: &Output) -> Exit {
    let result = match command {
        ConfigCommand::Show { cwd } => show(cwd.as_deref(), environment, output),
        ConfigCommand::Trust { cwd } => trust(cwd.as_deref(), environment, output),
    };
    output.exit(result.map(|()| Exit::Done))
}

fn show(cwd: Option<&std::path::Path>, environment: &Environment, output: &Output) -> Result<()> {
    let paths = Paths::resolve(environment)?;
    let cwd = working_folder(cwd)?;
    let config = settings(environment, &paths, &cwd, output)?;
    output.data(&format!("# user file: {}\n", paths.config_file.display()));
    output.data(&format!("# sessions:  {}\n", paths.sessions.display()));
    for setting in config.describe() {
        output.data(&format!("{} = {}  # {}\n", setting.key, setting.value, setting.source));
    }
    Ok(())
}

fn trust(cwd: Option<&std::path::Path>, environment: &Environment, output: &Output) -> Result<()> {
    let paths = Paths::resolve(environment)?;
    let root = project_root(&working_folder(cwd)?, &paths);
    let mut trust = Trust::load(&paths.trust_file)?;
    let settings_found = Config::trust_project(&root, &mut trust)?;
    let config = settings(environment, &paths, &root, output)?;
    let hooks = trust_hooks(&hooks_config(&config, environment, &paths)?, &root)?;
    anyhow::ensure!(
        settings_found || !hooks.is_empty(),
        "{} has no .harness/config.toml and no hooks to trust",
        root.display()
    );
    if settings_found {
        output.talk(&format!("harness: the settings of {} are trusted as they are now", root.display()));
    }
    for file in hooks {
        output.talk(&format!("harness: the hooks of {} are trusted as they are now", file.display()));
    }
    Ok(())
}
