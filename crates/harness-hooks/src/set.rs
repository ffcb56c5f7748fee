//! All hooks that are in force, in the order of the configuration.
use crate::condition::ToolFacts;
use crate::diagnostic::Diagnostic;
use crate::entry::{HookEntry, Scope};
use crate::file::HookFile;
use crate::{HookEvent, Profile};

/// Hooks of several files, merged.
#[derive(Debug, Clone, Default)]
pub struct HookSet {
    entries: Vec<HookEntry>,
    diagnostics: Vec<Diagnostic>,
    allowed_urls: Option<Vec<String>>,
    allowed_env: Option<Vec<String>>,
}

impl HookSet {
    /// Adds the hooks of all files up, in this order. `disableAllHooks` of the strongest file that says something
    /// counts (managed, then flag, local, project, user), and one that is not managed never disables managed hooks.
    pub fn merge(files: impl IntoIterator<Item = HookFile>) -> Self {
        let files: Vec<HookFile> = files.into_iter().collect();
        let rank = |scope: Scope| match scope {
            Scope::Plugin => 0,
            Scope::User => 1,
            Scope::Project => 2,
            Scope::Local => 3,
            Scope::Flag => 4,
            Scope::Managed => 5,
        };
        let said = files.iter().filter_map(|file| Some((file.origin.scope, file.disable_all?)));
        let disabled = said.max_by_key(|(scope, _)| rank(*scope)).filter(|(_, disable)| *disable);
        let managed = |file: &HookFile| file.origin.scope == Scope::Managed;
        let managed_only = files.iter().any(|file| managed(file) && file.managed_only == Some(true));
        let keeps = |scope: Scope| match disabled {
            Some((Scope::Managed, _)) => false,
            Some(_) => scope == Scope::Managed,
            None => scope == Scope::Managed || !managed_only,
        };
        let mut set = Self::default();
        for file in files {
            let join = |list: &mut Option<Vec<String>>, more: Option<Vec<String>>| {
                if let Some(more) = more {
                    list.get_or_insert_default().extend(more);
                }
            };
            join(&mut set.allowed_urls, file.allowed_urls);
            join(&mut set.allowed_env, file.allowed_env);
            set.diagnostics.extend(file.diagnostics);
            if keeps(file.origin.scope) {
                set.entries.extend(file.entries);
            }
        }
        set
    }
    /// The hooks.
    pub fn entries(&self) -> &[HookEntry] {
        &self.entries
    }
    /// What was found wrong.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
    /// URLs that webhooks may post to, with `*`; `None` allows all, an empty list none.
    pub fn allowed_urls(&self) -> Option<&[String]> {
        self.allowed_urls.as_deref()
    }
    /// Variables that headers of webhooks may use, if a list is set.
    pub fn allowed_env(&self) -> Option<&[String]> {
        self.allowed_env.as_deref()
    }
    /// Whether there is a hook for the event at all: a cheap first look.
    pub fn has(&self, event: HookEvent) -> bool {
        self.entries.iter().any(|entry| entry.events.contains(&event))
    }
    /// Whether a matcher of the event's hooks fits one of the names, whatever `if` rules say: a look before a payload
    /// is made.
    pub fn may_match(&self, event: HookEvent, names: &[&str]) -> bool {
        self.entries.iter().any(|entry| entry.events.contains(&event) && entry.matcher.matches(names))
    }
    /// The hooks that a dispatch runs, each with the event that it is for. In the claude profile a hook that was found
    /// in several settings files runs once.
    pub fn matching(
        &self,
        events: &[HookEvent],
        subjects: &[&str],
        tool: Option<ToolFacts<'_>>,
        profile: Profile,
    ) -> Vec<(&HookEntry, HookEvent)> {
        let mut found: Vec<(&HookEntry, HookEvent)> = Vec::new();
        for entry in &self.entries {
            let Some(event) = entry.event_of(events) else { continue };
            if !entry.wants(event, subjects, tool, profile) {
                continue;
            }
            let again = profile == Profile::Claude && found.iter().any(|(known, _)| known.repeats(entry));
            if !again {
                found.push((entry, event));
            }
        }
        found
    }
}
