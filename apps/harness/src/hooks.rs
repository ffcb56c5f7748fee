//! `harness hooks`: which hooks there are, whether they are sound, and what they say.
use std::path::PathBuf;

use anyhow::{Context, Result};
use harness_bundle::hooks_config;
use harness_config::{Environment, Paths, project_root};
use harness_hooks::{HookEntry, HookFile, HookSet, Origin, Scope, Severity};
use harness_hooks_claude::{Firing, HooksConfig, discover, firing};
use serde_json::{Value, json};

use crate::compose::{settings, working_folder};
use crate::exit::Exit;
use crate::hooks_args::{HookFiles, HooksCommand};
use crate::hooks_serve;
use crate::output::Output;

pub(crate) async fn run(command: HooksCommand, environment: &Environment, output: &Output) -> Exit {
    let result = match command {
        HooksCommand::List { files, json } => {
            Found::of(&files, environment, output).map(|found| found.list(json, output))
        }
        HooksCommand::Validate { files, strict, json } => {
            Found::of(&files, environment, output).map(|found| found.validate(strict, json, output))
        }
        HooksCommand::Dump { files } => {
            Found::of(&files, environment, output).map(|found| found.dump(output))
        }
        HooksCommand::Run { files, engine, event, payload, subject } => {
            match Found::of(&files, environment, output) {
                Ok(found) => {
                    let asked = hooks_serve::Asked { event, payload, subject };
                    hooks_serve::run(found, engine, asked, environment, output).await
                }
                Err(error) => Err(error),
            }
        }
        HooksCommand::Listen { files, engine } => match Found::of(&files, environment, output) {
            Ok(found) => hooks_serve::listen(found, engine, environment, output).await,
            Err(error) => Err(error),
        },
    };
    output.exit(result)
}

/// Where hooks are looked for.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    only: Option<PathBuf>,
    config: HooksConfig,
    pub(crate) cwd: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) home: Option<PathBuf>,
}

impl Found {
    fn of(files: &HookFiles, environment: &Environment, output: &Output) -> Result<Self> {
        let paths = Paths::resolve(environment)?;
        let cwd = working_folder(files.cwd.as_deref())?;
        let project = project_root(&cwd, &paths);
        let mut config = hooks_config(&settings(environment, &paths, &cwd, output)?, environment, &paths)?;
        let here = working_folder(None)?;
        let named = |flag: &Option<PathBuf>, variable: &str| {
            let path = flag.clone().or_else(|| environment.get(variable).map(PathBuf::from));
            path.map(|path| here.join(path))
        };
        let home = named(&files.home, "HOOKS_ADAPTER_HOME");
        if let Some(home) = &home {
            config.environment.push(("HOME".into(), home.into()));
        }
        config.settings.trust_project |= files.trust_project_hooks;
        let only = named(&files.config, "HOOKS_ADAPTER_CONFIG");
        if let Some(file) = &only {
            std::fs::metadata(file).with_context(|| format!("{} cannot be read", file.display()))?;
        }
        let home = home.or_else(|| environment.get("HOME").map(PathBuf::from));
        Ok(Self { only, config, cwd, project, home })
    }
    /// The hooks that run, and the files of a project that is not trusted.
    pub(crate) fn in_force(&self) -> (HookSet, Vec<PathBuf>) {
        if let Some(file) = &self.only {
            let origin = Origin::of(file, Scope::Flag);
            // It may go away before it is read again.
            let read = HookFile::load(origin.clone()).unwrap_or_else(|| HookFile::absent(origin));
            return (HookSet::merge([read]), Vec::new());
        }
        let found = discover(&self.config, &self.project);
        (found.set, found.untrusted)
    }
    /// All hooks, also those of a project that is not trusted.
    fn all(&self) -> HookSet {
        let mut trusting = self.clone();
        trusting.config.settings.trust_project = true;
        trusting.in_force().0
    }

    fn list(&self, as_json: bool, output: &Output) -> Exit {
        let (all, untrusted) = (self.all(), self.in_force().1);
        for entry in all.entries() {
            let note = note(entry, &untrusted);
            if as_json {
                let mut value = describe(entry);
                value["runs"] = note.is_none().into();
                value["note"] = note.into();
                output.data(&format!("{value}\n"));
                continue;
            }
            let matcher = entry.matcher_text.as_deref().filter(|text| !text.is_empty()).unwrap_or("*");
            let note = note.map_or_else(String::new, |note| format!("  ({note})"));
            let summary = entry.handler.summary().lines().next().unwrap_or_default();
            output.data(&format!("{}  {matcher}  {summary}{note}\n", entry.spelling));
            output.data(&format!("    {}: {}\n", entry.origin.file.display(), entry.locator));
        }
        if all.entries().is_empty() {
            output.talk("harness: no hooks are configured here");
        }
        Exit::Done
    }

    fn validate(&self, strict: bool, as_json: bool, output: &Output) -> Exit {
        let all = self.all();
        for found in all.diagnostics() {
            let line = if as_json { json!(found).to_string() } else { found.to_string() };
            output.data(&format!("{line}\n"));
        }
        let least = if strict { Severity::Warning } else { Severity::Error };
        let bad = all.diagnostics().iter().filter(|found| found.severity >= least).count();
        if !as_json {
            output.talk(&format!("harness: {} hooks, {bad} to mend", all.entries().len()));
        }
        if bad == 0 { Exit::Done } else { Exit::Failed }
    }

    fn dump(&self, output: &Output) -> Exit {
        let (set, untrusted) = self.in_force();
        let hooks: Vec<Value> = set.entries().iter().map(describe).collect();
        let value = json!({ "hooks": hooks, "untrusted": untrusted, "diagnostics": set.diagnostics() });
        output.data(&format!("{value:#}\n"));
        Exit::Done
    }
}

/// Why a hook never runs.
fn note(entry: &HookEntry, untrusted: &[PathBuf]) -> Option<String> {
    if untrusted.contains(&entry.origin.file) {
        return Some("does not run: this project is not trusted; see `harness config trust`".to_owned());
    }
    let event = entry.events.first()?;
    match firing(*event) {
        Firing::Fires => None,
        Firing::Waits(part) => Some(format!("does not run yet: there are no {part}")),
        Firing::Never => Some("known, never fires here".to_owned()),
    }
}

fn describe(entry: &HookEntry) -> Value {
    json!({
        "id": entry.id,
        "file": entry.origin.file,
        "locator": entry.locator,
        "scope": entry.origin.scope,
        "dialect": entry.origin.dialect,
        "event": entry.spelling,
        "matcher": entry.matcher_text,
        "kind": entry.handler.kind(),
        "handler": entry.handler.summary(),
        "timeout": entry.timeout.map(|timeout| timeout.as_secs_f64()),
        "onError": entry.on_error,
        "waiting": entry.waiting,
    })
}
