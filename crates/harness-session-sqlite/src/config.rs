//! Configuration.
use std::path::PathBuf;

use harness_session_persistence::Durability;
use schemars::JsonSchema;
use serde::Deserialize;

/// Where sessions are kept and how safe a barrier makes them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SqliteConfig {
    /// Folder that holds the database. Made when the first session is stored.
    pub root: PathBuf,
    /// `sync` waits until the device has the data, `write` until the operating system has it.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["sync", "write"], "default" = "sync"))]
    pub durability: Durability,
}
impl SqliteConfig {
    /// Sessions under this folder, made safe against power cuts.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), durability: Durability::default() }
    }
}
