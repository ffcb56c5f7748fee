//! The plugin: rules as listeners and guards.
use std::path::PathBuf;
use std::sync::Arc;

use harness_agent::AgentCreated;
use harness_kernel::{Ctx, Plugin, PluginError};
use harness_tools::{PreExecute, PreToolDecision, Restriction, Tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rule::{Reach, Rule, RuleError};

/// Configuration section `permissions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionsConfig {
    /// Calls that run without being asked about, as `tool` or `tool(pattern)`.
    pub allow: Vec<String>,
    /// Calls that never run, as `tool` or `tool(pattern)`. Deny wins.
    pub deny: Vec<String>,
}

/// Tools that run without being asked about when nothing else is said. Writes stay inside the workspace by the file
/// policy, not by this list.
const DEFAULT_ALLOW: [&str; 4] = ["read", "write", "edit", "bash"];

/// Decides calls by rules: a deny rule is a guard, so that nothing can undo it; an allow rule or a default allows;
/// everything else asks, and asking without an answerer denies.
#[derive(Debug)]
pub struct Permissions {
    allow: Arc<[Rule]>,
    deny: Arc<[Rule]>,
}

impl Permissions {
    /// Reads the rules.
    pub fn new(config: &PermissionsConfig) -> Result<Self, RuleError> {
        let read =
            |rules: &[String]| rules.iter().map(|rule| rule.parse()).collect::<Result<Arc<[Rule]>, _>>();
        Ok(Self { allow: read(&config.allow)?, deny: read(&config.deny)? })
    }
}

impl Permissions {
    /// Folders and files that the rules let be written wherever they lie. A file policy has to open them as well.
    pub fn write_roots(&self) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> = self.allow.iter().filter_map(Rule::write_root).collect();
        roots.sort();
        roots.dedup();
        roots
    }
}

impl Plugin for Permissions {
    type Deps = Arc<Tools>;
    fn name(&self) -> &'static str {
        "permissions"
    }
    async fn apply(&self, ctx: Ctx, tools: Arc<Tools>) -> Result<(), PluginError> {
        let deny = Arc::clone(&self.deny);
        tools.guard(&ctx, "permissions", move |call| {
            let rule = deny.iter().find(|rule| rule.matches(call, Reach::AnyPart))?;
            Some(format!("`{}` is denied by the permission rule `{rule}`", call.name()))
        });
        // A tool that can never run need not be offered; a call of it is still denied by the guard, not unknown.
        let never: Vec<String> = self.deny.iter().filter_map(Rule::whole_tool).map(str::to_owned).collect();
        if !never.is_empty() {
            ctx.on::<AgentCreated>(move |created| {
                tools.restrict(created.agent.ctx(), Restriction { allow: None, deny: never.clone() });
            });
        }
        let allow = Arc::clone(&self.allow);
        ctx.around::<PreExecute, _>(move |event, next| {
            let listed = allow.iter().any(|rule| rule.matches(&event.0, Reach::Whole));
            let allowed = listed || DEFAULT_ALLOW.contains(&event.0.name());
            async move {
                if allowed {
                    return next.run(event).await;
                }
                let reason = format!("no permission rule allows `{}`", event.0.name());
                Ok(PreToolDecision::Ask { reason: Some(reason) })
            }
        });
        Ok(())
    }
}
