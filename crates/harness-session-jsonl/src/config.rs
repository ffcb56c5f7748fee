//! Configuration.
use std::path::PathBuf;

use harness_session_persistence::Durability;
use schemars::JsonSchema;
use serde::Deserialize;

/// Where sessions are kept and how safe a barrier makes them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonlConfig {
    /// Folder that holds one folder for each session. Made when the first session is stored.
    pub root: PathBuf,
    /// `sync` waits until the device has the data, `write` until the operating system has it.
    #[serde(default)]
    #[schemars(with = "String", extend("enum" = ["sync", "write"], "default" = "sync"))]
    pub durability: Durability,
    /// Whether what is appended is compressed. Every build reads both, mixed as well.
    #[serde(default)]
    pub compression: Compression,
}

/// How appended events are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// As JSON lines that any program can read.
    #[default]
    None,
    /// What happens within turns as lines compressed with zstd.
    Zstd,
}
impl JsonlConfig {
    /// Sessions under this folder, made safe against power cuts.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), durability: Durability::default(), compression: Compression::None }
    }
}
