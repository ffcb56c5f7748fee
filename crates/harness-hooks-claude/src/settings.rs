//! What can be set, and what the composer brings.
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use harness_config::{Paths, ProjectKeys, Section};
use harness_hooks::OnError;
use harness_http::HttpConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Configuration section `hooks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HooksSettings {
    /// Whether hooks run at all
    pub enabled: bool,
    /// Run a project's hooks without asking whether the project is trusted
    pub trust_project: bool,
    /// Further settings files with hooks
    pub files: Vec<PathBuf>,
    /// Folders of plugins that bring `hooks/hooks.json`
    pub plugins: Vec<PathBuf>,
    /// Folder of the person's settings instead of `~/.claude`
    pub user_folder: Option<PathBuf>,
    /// Folder of the administrator's settings
    pub managed_folder: PathBuf,
    /// What a hook's failure means where the hook does not say: ignore, warn or block
    pub on_error: OnError,
    /// What the answer `"decision": "deny"`, which no contract knows, means: warn, or block to deny
    pub invalid_decision: OnError,
    /// How often in a row stop hooks may keep a turn going; 0 is without end
    pub stop_cap: u32,
    /// Claude Code's names of further tools, by our names
    pub tool_aliases: BTreeMap<String, String>,
}
impl Default for HooksSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            trust_project: false,
            files: Vec::new(),
            plugins: Vec::new(),
            user_folder: None,
            managed_folder: PathBuf::from("/etc/claude-code"),
            on_error: OnError::Warn,
            invalid_decision: OnError::Warn,
            stop_cap: 8,
            tool_aliases: BTreeMap::new(),
        }
    }
}
impl Section for HooksSettings {
    const NAME: &'static str = "hooks";
    // Hooks are programs: a cloned repository does not choose which run.
    const PROJECT: ProjectKeys = ProjectKeys::Only(&[]);
}

/// What the composer brings.
#[derive(Debug, Clone)]
pub struct HooksConfig {
    /// The settings.
    pub settings: HooksSettings,
    /// The environment of hooks.
    pub environment: Vec<(OsString, OsString)>,
    /// Where the project root is looked for, and which files are trusted.
    pub paths: Paths,
    /// Where transcripts, environment files and long outputs go, a folder for each session.
    pub data: PathBuf,
    /// How webhooks connect.
    pub http: HttpConfig,
}

impl HooksConfig {
    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.environment.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }
    /// The person's home folder.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from)
    }
    /// How often stop hooks may keep a turn going; the variable of Claude Code wins.
    pub(crate) fn stop_cap(&self) -> u32 {
        let variable = self.variable("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP");
        let set = variable.and_then(|text| text.to_str()?.trim().parse().ok());
        set.unwrap_or(self.settings.stop_cap)
    }
}
