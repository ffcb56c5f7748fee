//! What each package is, and what each kind may depend on. The one table to edit when a package is added.
use std::fmt;

use self::Kind::{App, Bridge, Bundle, Consumer, Implementation, Kernel, Primitive, Seam, Testkit, Xtask};

/// The layers of docs/architecture.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Contexts, services, events and plugins.
    Kernel,
    /// A trait, its vocabulary and the algorithm that all implementations share.
    Seam,
    /// Something behind a seam.
    Implementation,
    /// What a model calls.
    Consumer,
    /// Another system's protocol in front of our seams.
    Bridge,
    /// A tool of the trade that knows nothing of agents.
    Primitive,
    /// Helpers for tests only.
    Testkit,
    /// The one place that composes implementations.
    Bundle,
    /// A program for users.
    App,
    /// A program for the repository.
    Xtask,
}

/// Every package of the workspace.
pub(super) const LAYERS: &[(&str, Kind)] = &[
    ("harness-kernel", Kernel),
    ("harness-agent", Seam),
    ("harness-approval", Seam),
    ("harness-bash", Seam),
    ("harness-compact", Seam),
    ("harness-fs", Seam),
    ("harness-llm", Seam),
    ("harness-session", Seam),
    ("harness-session-persistence", Seam),
    ("harness-system-prompt", Seam),
    ("harness-token-meter", Seam),
    ("harness-tools", Seam),
    ("harness-agent-loop", Implementation),
    ("harness-bash-local", Implementation),
    ("harness-budget", Implementation),
    ("harness-compact-basic", Implementation),
    ("harness-fs-local", Implementation),
    ("harness-fs-policy", Implementation),
    ("harness-llm-anthropic", Implementation),
    ("harness-llm-deepseek", Implementation),
    ("harness-llm-openai", Implementation),
    ("harness-llm-text-calls", Implementation),
    ("harness-permissions", Implementation),
    ("harness-retry", Implementation),
    ("harness-session-export", Implementation),
    ("harness-session-jsonl", Implementation),
    ("harness-session-sqlite", Implementation),
    ("harness-session-replay", Implementation),
    ("harness-tool-schema", Implementation),
    ("harness-tool-bash", Consumer),
    ("harness-tool-fs", Consumer),
    ("harness-hooks-claude", Bridge),
    ("harness-config", Primitive),
    ("harness-hooks", Primitive),
    ("harness-http", Primitive),
    ("harness-llm-catalog", Primitive),
    ("harness-llm-chat-completions", Primitive),
    ("harness-llm-http", Primitive),
    ("harness-llm-mock", Primitive),
    ("harness-llm-responses", Primitive),
    ("harness-process", Primitive),
    ("harness-sse", Primitive),
    ("harness-testkit", Testkit),
    ("harness-bundle", Bundle),
    ("harness", App),
    ("xtask", Xtask),
    ("xtask-bench", Xtask),
];

/// Edges that the rules would refuse, each with its reason.
pub(super) const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("harness-llm-chat-completions", "harness-llm", WIRE),
    ("harness-llm-http", "harness-llm", WIRE),
    ("harness-llm-responses", "harness-llm", WIRE),
];
const WIRE: &str = "a wire format is a translation of the model vocabulary";

/// The kind of a package; `None` when the table does not list it.
pub(super) fn kind_of(package: &str) -> Option<Kind> {
    LAYERS.iter().find(|(name, _)| *name == package).map(|(_, kind)| *kind)
}

impl Kind {
    /// The kinds that it may depend on, tests aside.
    pub(super) fn may_use(self) -> &'static [Kind] {
        match self {
            Kernel => &[],
            Primitive => &[Primitive],
            Seam => &[Kernel, Seam],
            Implementation | Consumer | Bridge | Testkit => &[Kernel, Seam, Primitive],
            Bundle => &[Kernel, Seam, Primitive, Implementation, Consumer, Bridge],
            App => &[Kernel, Seam, Primitive, Implementation, Consumer, Bridge, Bundle],
            Xtask => &[Kernel, Seam, Primitive, Bundle],
        }
    }
}
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kernel => "kernel",
            Seam => "seam",
            Implementation => "implementation",
            Consumer => "consumer",
            Bridge => "bridge",
            Primitive => "primitive",
            Testkit => "testkit",
            Bundle => "bundle",
            App => "app",
            Xtask => "xtask",
        })
    }
}
