//! The events, as one table: what each matches on, whether it can be stopped, what plain stdout means on it.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Dialect;

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// An event, by the name that settings files use.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[non_exhaustive]
        pub enum HookEvent { $($(#[$doc])* $name),+ }
        impl HookEvent {
            /// All of them.
            pub const ALL: &'static [HookEvent] = &[$(HookEvent::$name),+];
            /// The name in settings files and in `hook_event_name`.
            pub const fn name(self) -> &'static str {
                match self { $(HookEvent::$name => stringify!($name)),+ }
            }
        }
    };
}
events! {
    /// A session starts or goes on.
    SessionStart,
    /// Setup of a repository.
    Setup,
    /// The person sends a prompt.
    UserPromptSubmit,
    /// A slash command is expanded.
    UserPromptExpansion,
    /// A tool call is about to be judged.
    PreToolUse,
    /// A tool call needs approval.
    PermissionRequest,
    /// An automatic mode refused a call.
    PermissionDenied,
    /// A tool call succeeded.
    PostToolUse,
    /// A tool call failed.
    PostToolUseFailure,
    /// All calls of one answer are done.
    PostToolBatch,
    /// The person is told something.
    Notification,
    /// A subagent starts.
    SubagentStart,
    /// A subagent wants to end.
    SubagentStop,
    /// The turn wants to end.
    Stop,
    /// The turn ended with a failure.
    StopFailure,
    /// The history is about to be compacted.
    PreCompact,
    /// The history was compacted.
    PostCompact,
    /// A session ends.
    SessionEnd,
    /// A task was made.
    TaskCreated,
    /// A task was completed.
    TaskCompleted,
    /// A teammate has nothing to do.
    TeammateIdle,
    /// Instruction files were read.
    InstructionsLoaded,
    /// A setting changed.
    ConfigChange,
    /// The working folder changed.
    CwdChanged,
    /// A folder joined the workspace.
    DirectoryAdded,
    /// A watched file changed.
    FileChanged,
    /// A work tree is to be made.
    WorktreeCreate,
    /// A work tree is to be removed.
    WorktreeRemove,
    /// An MCP server asks the person.
    Elicitation,
    /// The person answered an MCP server.
    ElicitationResult,
    /// Text is shown.
    MessageDisplay,
    /// The model is about to change.
    PreModelSwitch,
    /// The model changed.
    PostModelSwitch,
    /// A skill is about to run a shell command.
    PreSkillShellCommand,
}

/// What is known of an event.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, the columns of a table")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventInfo {
    /// The payload field that matchers look at; `None` when the event has no matcher.
    pub subject: Option<&'static str>,
    /// Whether a block stops what is about to happen.
    pub blocks: bool,
    /// Whether plain stdout becomes context for the model.
    pub stdout_is_context: bool,
    /// Whether it is about a tool call, so that `if` rules apply.
    pub about_tool: bool,
    /// Whether oracle and proxy handlers are allowed.
    pub asks_models: bool,
    /// The name in the native contract, if it is part of that.
    pub canonical: Option<&'static str>,
}

const SILENT: EventInfo = EventInfo {
    subject: None,
    blocks: false,
    stdout_is_context: false,
    about_tool: false,
    asks_models: false,
    canonical: None,
};
const TOOL: EventInfo =
    EventInfo { subject: Some("tool_name"), about_tool: true, asks_models: true, ..SILENT };
const STOPS: EventInfo = EventInfo { blocks: true, ..SILENT };
const JUDGED: EventInfo = EventInfo { blocks: true, asks_models: true, ..SILENT };

const fn on(subject: &'static str) -> EventInfo {
    EventInfo { subject: Some(subject), ..SILENT }
}

impl HookEvent {
    /// The event's row of the table.
    pub const fn info(self) -> EventInfo {
        match self {
            Self::SessionStart => {
                EventInfo { stdout_is_context: true, canonical: Some("session:start"), ..on("source") }
            }
            Self::Setup | Self::PostCompact => on("trigger"),
            Self::UserPromptSubmit => {
                EventInfo { stdout_is_context: true, canonical: Some("prompt:submit"), ..JUDGED }
            }
            Self::UserPromptExpansion => {
                EventInfo { subject: Some("command_name"), stdout_is_context: true, ..JUDGED }
            }
            Self::PreToolUse => EventInfo { blocks: true, canonical: Some("tool:before"), ..TOOL },
            Self::PermissionRequest | Self::PermissionDenied => TOOL,
            Self::PostToolUse | Self::PostToolUseFailure => {
                EventInfo { canonical: Some("tool:after"), ..TOOL }
            }
            Self::PostToolBatch | Self::TaskCreated | Self::TaskCompleted | Self::TeammateIdle => JUDGED,
            Self::Notification => EventInfo { canonical: Some("notice"), ..on("notification_type") },
            Self::SubagentStart => EventInfo { canonical: Some("subagent:start"), ..on("agent_type") },
            Self::SubagentStop => {
                EventInfo { subject: Some("agent_type"), canonical: Some("subagent:end"), ..JUDGED }
            }
            Self::Stop => EventInfo { canonical: Some("turn:stop"), ..JUDGED },
            Self::StopFailure => on("error"),
            Self::PreCompact => {
                EventInfo { blocks: true, canonical: Some("compact:before"), ..on("trigger") }
            }
            Self::SessionEnd => EventInfo { canonical: Some("session:end"), ..on("reason") },
            Self::InstructionsLoaded => on("load_reason"),
            Self::ConfigChange => EventInfo { blocks: true, ..on("source") },
            Self::DirectoryAdded => on("source"),
            Self::FileChanged => on("file_path"),
            Self::Elicitation | Self::ElicitationResult => {
                EventInfo { blocks: true, ..on("mcp_server_name") }
            }
            Self::WorktreeCreate | Self::PreModelSwitch | Self::PreSkillShellCommand => STOPS,
            Self::CwdChanged | Self::WorktreeRemove | Self::MessageDisplay | Self::PostModelSwitch => SILENT,
        }
    }
    /// Whether a block here means "go on", so that a broken hook must not cause one.
    pub const fn is_stop(self) -> bool {
        matches!(self, Self::Stop | Self::SubagentStop)
    }
    /// Whether a block stops something in this profile.
    pub const fn blocks_in(self, profile: crate::Profile) -> bool {
        match profile {
            crate::Profile::Claude => self.info().blocks,
            crate::Profile::Native => matches!(self, Self::UserPromptSubmit | Self::PreToolUse | Self::Stop),
        }
    }
    /// Whether plain stdout is context in this profile.
    pub const fn stdout_is_context_in(self, profile: crate::Profile) -> bool {
        match profile {
            crate::Profile::Claude => self.info().stdout_is_context,
            crate::Profile::Native => matches!(
                self,
                Self::SessionStart | Self::UserPromptSubmit | Self::SubagentStart | Self::PreCompact
            ),
        }
    }
    /// The events that a name of any dialect means: one, or two for `tool:after`; none if nobody knows it.
    pub fn spelled(name: &str) -> Vec<Self> {
        let known = |event: &&Self| event.name() == name || event.info().canonical == Some(name);
        let direct: Vec<Self> = Self::ALL.iter().filter(known).copied().collect();
        if !direct.is_empty() {
            return direct;
        }
        OPENCODE.iter().filter(|(spelling, _)| *spelling == name).map(|(_, event)| *event).collect()
    }

    /// The events that a name means in a file of this dialect. Names of the native contract hold in all of them.
    pub fn spelled_in(dialect: Dialect, name: &str) -> Vec<Self> {
        let mut events = Self::spelled(name);
        let canonical = |event: &Self| event.info().canonical == Some(name);
        match dialect {
            Dialect::Claude | Dialect::Native => {}
            Dialect::Codex => events.retain(|event| {
                canonical(event) || !matches!(event, Self::PreCompact | Self::PostToolUseFailure)
            }),
            Dialect::Opencode => events
                .retain(|event| canonical(event) || OPENCODE.iter().any(|(spelling, _)| *spelling == name)),
        }
        events
    }
}

/// What opencode calls them.
const OPENCODE: [(&str, HookEvent); 10] = [
    ("session.created", HookEvent::SessionStart),
    ("session.deleted", HookEvent::SessionEnd),
    ("chat.message", HookEvent::UserPromptSubmit),
    ("tool.execute.before", HookEvent::PreToolUse),
    ("tool.execute.after", HookEvent::PostToolUse),
    ("session.idle", HookEvent::Stop),
    ("tool.execute.before.subagent", HookEvent::SubagentStart),
    ("tool.execute.after.subagent", HookEvent::SubagentStop),
    ("notification", HookEvent::Notification),
    ("experimental.session.compacting", HookEvent::PreCompact),
];
