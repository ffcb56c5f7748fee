//! Which files may have hooks, and what they come to.
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use harness_config::Trust;
use harness_hooks::{Dialect, HookFile, HookSet, Origin, Scope, Severity};
use serde_json::Value;

use crate::settings::HooksConfig;

/// A candidate as the disk has it: changed when this differs.
type Stamp = Option<(SystemTime, u64)>;

/// The hooks of one project as they are now.
#[derive(Debug)]
pub struct Discovered {
    /// The hooks in force.
    pub set: HookSet,
    /// Project files whose hooks are held back, as the project is not trusted.
    pub untrusted: Vec<PathBuf>,
    stamps: Vec<(PathBuf, Stamp)>,
}

/// The files of a project in the order of the configuration: user, project, local, named ones, managed, plugins; of
/// the other dialects the user's before the project's.
pub fn candidates(config: &HooksConfig, project: &Path) -> Vec<Origin> {
    let settings = &config.settings;
    let home = config.home();
    let user = settings.user_folder.clone().or_else(|| home.as_ref().map(|home| home.join(".claude")));
    let mut all = Vec::new();
    all.extend(user.map(|folder| Origin::of(folder.join("settings.json"), Scope::User)));
    for name in [".codex/hooks.json", ".config/opencode/opencode.json", ".config/hooks-adapter/hooks.json"] {
        let Some(home) = &home else { break };
        let origin = Origin::of(home.join(name), Scope::User);
        let native = name.contains("hooks-adapter");
        all.push(if native { origin.in_dialect(Dialect::Native) } else { origin });
    }
    for name in [".claude/settings.json", ".codex/hooks.json", "opencode.json", ".dsh-hooks.json"] {
        all.push(Origin::of(project.join(name), Scope::Project));
    }
    all.push(Origin::of(project.join(".claude/settings.local.json"), Scope::Local));
    all.extend(settings.files.iter().map(|file| Origin::of(project.join(file), Scope::Flag)));
    all.extend(managed(&settings.managed_folder));
    for root in &settings.plugins {
        let mut origin = Origin::of(root.join("hooks/hooks.json"), Scope::Plugin).in_dialect(Dialect::Claude);
        origin.plugin_data = root.file_name().map(|name| config.data.join("plugins").join(name));
        origin.plugin_root = Some(root.clone());
        all.push(origin);
    }
    // A project in the home folder has the user's file twice.
    let mut seen = Vec::new();
    all.retain(|origin| {
        let fresh = !seen.contains(&origin.file);
        seen.push(origin.file.clone());
        fresh
    });
    all
}

fn managed(folder: &Path) -> Vec<Origin> {
    let mut files = vec![folder.join("managed-settings.json")];
    if let Ok(entries) = std::fs::read_dir(folder.join("managed-settings.d")) {
        let mut more: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        more.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        more.sort();
        files.extend(more);
    }
    files.into_iter().map(|file| Origin::of(file, Scope::Managed)).collect()
}

/// Reads the files of a project.
pub fn discover(config: &HooksConfig, project: &Path) -> Discovered {
    let origins = candidates(config, project);
    let mut stamps: Vec<(PathBuf, Stamp)> =
        origins.iter().map(|origin| (origin.file.clone(), stamp(&origin.file))).collect();
    stamps.push((config.paths.trust_file.clone(), stamp(&config.paths.trust_file)));
    let (mut files, mut untrusted) = (Vec::new(), Vec::new());
    let trust = Trust::load(&config.paths.trust_file);
    for origin in origins {
        let named = origin.scope == Scope::Flag;
        let Some(mut file) = HookFile::load(origin.clone()) else {
            if named {
                files.push(HookFile::absent(origin));
            }
            continue;
        };
        let foreign = matches!(file.origin.scope, Scope::Project | Scope::Local);
        let covered = || trust.as_ref().is_ok_and(|trust| trust.covers(&file.origin.file, &content(&file)));
        if foreign && !config.settings.trust_project && !file.entries.is_empty() && !covered() {
            untrusted.push(file.origin.file.clone());
            // What a project says about other people's hooks does not count either.
            file = HookFile { entries: Vec::new(), disable_all: None, ..file };
        }
        files.push(file);
    }
    Discovered { set: HookSet::merge(files), untrusted, stamps }
}

impl Discovered {
    /// Whether a file has changed since it was read.
    pub fn stale(&self) -> bool {
        self.stamps.iter().any(|(path, known)| stamp(path) != *known)
    }
    /// What the person should be told.
    pub fn warnings(&self) -> Vec<String> {
        let serious = self.set.diagnostics().iter().filter(|found| found.severity > Severity::Info);
        let mut all: Vec<String> = serious.map(|found| format!("hooks: {found}")).collect();
        all.extend(self.untrusted.iter().map(|file| {
            format!(
                "the hooks of {} do not run: this project is not trusted; look at the file, then run \
                 `harness config trust`",
                file.display()
            )
        }));
        all
    }
}

/// Trusts the hooks of a project exactly as they are now; the scripts that they start are not part of it. Returns the
/// files.
pub fn trust_hooks(
    config: &HooksConfig,
    project: &Path,
) -> Result<Vec<PathBuf>, harness_config::ConfigError> {
    let mut trust = Trust::load(&config.paths.trust_file)?;
    let mut trusted = Vec::new();
    for origin in candidates(config, project) {
        if !matches!(origin.scope, Scope::Project | Scope::Local) {
            continue;
        }
        let Some(file) = HookFile::load(origin).filter(|file| !file.entries.is_empty()) else { continue };
        trust.grant(&file.origin.file, &content(&file))?;
        trusted.push(file.origin.file);
    }
    Ok(trusted)
}

/// What is trusted of a file: its hooks, so that other settings may change.
fn content(file: &HookFile) -> String {
    let value: Value = serde_json::from_str(&file.text).unwrap_or_default();
    let part = |key: &str| value.get(key).cloned().unwrap_or_default();
    Value::Array(vec![part("hooks"), part("events"), part("disableAllHooks")]).to_string()
}

fn stamp(path: &Path) -> Stamp {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}
