//! The configuration.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Configuration of the file policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FsPolicyConfig {
    /// Absolute folders outside the workspace that may be read and written like it.
    pub writable_roots: Vec<PathBuf>,
    /// Whether files outside the workspace and the writable roots may be written and edited.
    pub write_outside: Outside,
    /// Whether files outside the workspace and the writable roots may be read.
    pub read_outside: Outside,
    /// Whether an existing file must have been read, in its present state, before it is changed.
    pub read_before_edit: bool,
}

impl Default for FsPolicyConfig {
    fn default() -> Self {
        Self {
            writable_roots: Vec::new(),
            write_outside: Outside::Deny,
            read_outside: Outside::Allow,
            read_before_edit: true,
        }
    }
}

/// What happens outside the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outside {
    /// The same as inside.
    Allow,
    /// Nothing.
    Deny,
}
