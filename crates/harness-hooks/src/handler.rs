//! What a hook does when its event comes.
use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::HookEvent;

/// A handler, ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// Runs a program.
    Command(CommandHandler),
    /// Posts the payload to a URL.
    Webhook(WebhookHandler),
    /// Asks a model.
    Oracle(OracleHandler),
    /// Has an agent look.
    Proxy(ProxyHandler),
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandHandler {
    /// A shell's command line; with `args`, the program itself.
    pub command: String,
    /// Arguments of the exec form, which no shell looks at.
    pub args: Option<Vec<String>>,
    /// The shell to use instead of bash.
    pub shell: Option<String>,
    /// Variables on top of the environment.
    pub env: BTreeMap<String, String>,
}

/// A URL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookHandler {
    /// Where to post.
    pub url: String,
    /// Headers; `$NAME` and `${NAME}` are variables.
    pub headers: BTreeMap<String, String>,
    /// The variables that headers may use; in the native profile all.
    pub allowed_env: Vec<String>,
}

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OracleHandler {
    /// The question; `$ARGUMENTS` is the payload.
    pub prompt: String,
    /// The model, if not the default one.
    pub model: Option<String>,
    /// Whether the turn goes on after a no.
    pub continue_on_block: bool,
}

/// A task for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProxyHandler {
    /// The task; `$ARGUMENTS` is the payload.
    pub prompt: String,
    /// A runner program, if not the composer's agent.
    pub command: Option<String>,
    /// The model, if not the default one.
    pub model: Option<String>,
}

/// The kind of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HandlerKind {
    /// A program.
    Command,
    /// A URL.
    Webhook,
    /// A model.
    Oracle,
    /// An agent.
    Proxy,
}

impl Handler {
    /// Its kind.
    pub const fn kind(&self) -> HandlerKind {
        match self {
            Self::Command(_) => HandlerKind::Command,
            Self::Webhook(_) => HandlerKind::Webhook,
            Self::Oracle(_) => HandlerKind::Oracle,
            Self::Proxy(_) => HandlerKind::Proxy,
        }
    }
    /// The command, URL or prompt: for lists.
    pub fn summary(&self) -> &str {
        match self {
            Self::Command(handler) => &handler.command,
            Self::Webhook(handler) => &handler.url,
            Self::Oracle(handler) => &handler.prompt,
            Self::Proxy(handler) => &handler.prompt,
        }
    }
}

impl HandlerKind {
    /// How long a handler of this kind may take when nothing else is said.
    pub const fn default_timeout(self, event: HookEvent) -> Duration {
        match (self, event) {
            (Self::Oracle, _) | (_, HookEvent::UserPromptSubmit) => Duration::from_secs(30),
            (Self::Proxy, _) => Duration::from_mins(1),
            (_, HookEvent::MessageDisplay) => Duration::from_secs(10),
            (_, HookEvent::SessionEnd) => Duration::from_millis(1500),
            _ => Duration::from_mins(10),
        }
    }
}

/// What a hook that could not do its work means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Nothing, and nobody is told.
    Ignore,
    /// Nothing, and the person is told.
    #[default]
    Warn,
    /// A refusal, where the event can be refused.
    Block,
}

/// Whether the event waits for the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Waiting {
    /// It waits.
    #[default]
    Awaited,
    /// It does not; context and messages are delivered later, decisions do not count.
    Background,
    /// It does not, and exit 2 wakes the model with the hook's words.
    Rewake,
}
