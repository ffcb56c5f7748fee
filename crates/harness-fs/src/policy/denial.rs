//! A policy's no.

use std::fmt;

/// A refusal, in words for the model and with a code for programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    code: &'static str,
    reason: String,
}

impl Denial {
    /// Any refusal, with code `FS_DENIED`. The reason should name what was refused, why, and the way out.
    pub fn new(reason: impl Into<String>) -> Self {
        Self::with_code("FS_DENIED", reason)
    }

    /// A refusal with a code of its own.
    pub fn with_code(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }

    /// The owner has not read what it wants to change: `FS_NOT_OBSERVED`.
    pub fn not_observed(path: &str) -> Self {
        let reason =
            format!("{path} has not been read in this session; read it first, then repeat the change");
        Self::with_code("FS_NOT_OBSERVED", reason)
    }

    /// The path leads out of the workspace: `FS_OUTSIDE_WORKSPACE`.
    pub fn outside_workspace(reason: impl Into<String>) -> Self {
        Self::with_code("FS_OUTSIDE_WORKSPACE", reason)
    }

    /// Two listeners rely on different states of the file: `FS_STALE`.
    pub fn conflicting_guards() -> Self {
        Self::with_code("FS_STALE", "two policies rely on different states of the file; read it again")
    }

    /// The code.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}
