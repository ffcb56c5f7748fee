//! What was found wrong with a configuration, with the place.
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// It works, but probably not as meant.
    Warning,
    /// The entry is disabled.
    Error,
}

/// One finding. An error disables the entry that it names and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// Where in the file, such as `hooks[PreToolUse][1].hooks[0]`; empty for the file as a whole.
    pub locator: String,
    /// The event's name as written, if the place is below one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}", self.file.display())?;
        if !self.locator.is_empty() {
            write!(f, ": {}", self.locator)?;
        }
        write!(f, ": {}", self.message)
    }
}
