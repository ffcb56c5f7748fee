//! Which contract is followed.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The two contracts that one engine speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Claude Code 2.1.240: hooks of one event overlap, JSON counts on every exit code, deny > defer > ask > allow.
    #[default]
    Claude,
    /// The native shell contract: one hook after another, JSON counts on exit 0 only, deny > ask > allow.
    Native,
}

/// Whose file format an entry was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// `settings.json`.
    Claude,
    /// `hooks.json` of codex: matchers are always regular expressions.
    Codex,
    /// `opencode.json`: other event names, matchers are always regular expressions.
    Opencode,
    /// Canonical event names below the key `events`, with literal matchers.
    Native,
}

impl Dialect {
    /// The dialect of a file, by its name.
    pub fn of_file(name: &str) -> Self {
        match name {
            "hooks.json" => Self::Codex,
            "opencode.json" | "opencode.jsonc" => Self::Opencode,
            ".dsh-hooks.json" | "dsh-hooks.json" => Self::Native,
            _ => Self::Claude,
        }
    }
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Native => "native",
        }
    }
}
