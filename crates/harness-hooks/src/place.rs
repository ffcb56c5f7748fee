//! Where hooks run.
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::entry::Origin;

/// The folder, the project and the environment of a dispatch.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// Where programs start; the project's folder if it is gone.
    pub cwd: PathBuf,
    /// The project's folder.
    pub project: PathBuf,
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// The whole environment of programs, and the variables of webhook headers.
    pub env: Vec<(OsString, OsString)>,
}

impl Place {
    /// A variable.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.env.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }
    /// The folder that exists.
    pub(crate) fn folder(&self) -> &Path {
        if self.cwd.is_dir() { &self.cwd } else { &self.project }
    }
    /// Replaces the placeholders that commands and arguments may hold; others stay.
    pub(crate) fn substitute(&self, origin: &Origin, text: &str) -> String {
        let mut out = text.replace("${CLAUDE_PROJECT_DIR}", &self.project.to_string_lossy());
        let folders =
            [("${CLAUDE_PLUGIN_ROOT}", &origin.plugin_root), ("${CLAUDE_PLUGIN_DATA}", &origin.plugin_data)];
        for (placeholder, folder) in folders {
            if let Some(folder) = folder {
                out = out.replace(placeholder, &folder.to_string_lossy());
            }
        }
        out
    }
    /// The environment of a hook of this origin.
    pub(crate) fn environment(&self, origin: &Origin) -> Vec<(OsString, OsString)> {
        let mut env = self.env.clone();
        let mut set = |name: &str, value: &Path| env.push((name.into(), value.as_os_str().to_owned()));
        set("CLAUDE_PROJECT_DIR", &self.project);
        if let Some(root) = &origin.plugin_root {
            set("CLAUDE_PLUGIN_ROOT", root);
        }
        if let Some(data) = &origin.plugin_data {
            set("CLAUDE_PLUGIN_DATA", data);
        }
        env
    }
    /// A program of the `PATH`.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
    }
}
