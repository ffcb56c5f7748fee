//! Which events really happen here.
use harness_hooks::HookEvent;

/// Whether an event fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Firing {
    /// It does.
    Fires,
    /// It will when this part is composed.
    Waits(&'static str),
    /// Nothing here corresponds to it.
    Never,
}

/// Whether hooks of an event ever run here. Entries of other events are read and listed.
pub const fn firing(event: HookEvent) -> Firing {
    match event {
        HookEvent::SessionStart
        | HookEvent::UserPromptSubmit
        | HookEvent::PreToolUse
        | HookEvent::PermissionRequest
        | HookEvent::PostToolUse
        | HookEvent::PostToolUseFailure
        | HookEvent::PostToolBatch
        | HookEvent::Notification
        | HookEvent::Stop
        | HookEvent::StopFailure
        | HookEvent::PreCompact
        | HookEvent::PostCompact
        | HookEvent::SessionEnd => Firing::Fires,
        HookEvent::SubagentStart | HookEvent::SubagentStop => Firing::Waits("subagents"),
        _ => Firing::Never,
    }
}
