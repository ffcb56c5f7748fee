//! The `tools` service: registered tools, restrictions and guards, visible by scope.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use harness_kernel::{Ctx, Service};
use harness_llm::ToolSpec;

use crate::call::ToolCall;
use crate::cap::ResultCap;
use crate::erased::{AnyTool, erase};
use crate::schema::CompiledSchema;
use crate::tool::Tool;

/// Why a tool was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The scope has a tool of this name.
    #[error("tool `{0}` is already registered in this scope")]
    Duplicate(String),
    /// Providers refuse such a name.
    #[error("tool name `{0}` is not legal: use 1 to 64 letters, digits, `_` or `-`")]
    Name(String),
}
impl RegisterError {
    /// A stable code for each variant.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Duplicate(_) => "tool-already-registered",
            Self::Name(_) => "tool-name-illegal",
        }
    }
}

pub(crate) struct Entry {
    pub(crate) tool: Arc<dyn AnyTool>,
    pub(crate) spec: ToolSpec,
    /// Unset until a validator is there to compile it; `None` when it cannot be compiled.
    pub(crate) schema: OnceLock<Option<Arc<dyn CompiledSchema>>>,
}

/// Filters the tools that a scope inherits; its own tools are never filtered. A filtered tool is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restriction {
    /// Only these, if given.
    pub allow: Option<Vec<String>>,
    /// Never these.
    pub deny: Vec<String>,
}
impl Restriction {
    fn admits(&self, name: &str) -> bool {
        let allowed = self.allow.as_ref().is_none_or(|allow| allow.iter().any(|other| other == name));
        allowed && !self.deny.iter().any(|other| other == name)
    }
}

type Guard = Arc<dyn Fn(&ToolCall) -> Option<String> + Send + Sync>;

#[derive(Default)]
struct Layer {
    tools: Mutex<BTreeMap<String, Arc<Entry>>>,
    restrictions: Mutex<Vec<(u64, Restriction)>>,
    guards: Mutex<Vec<(u64, &'static str, Guard)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The service.
#[derive(Debug, Default)]
pub struct Tools {
    ids: AtomicU64,
    cap: Mutex<ResultCap>,
}
impl Service for Tools {
    const NAME: &'static str = "tools";
}

impl Tools {
    /// Sets the bound on every result from now on.
    pub fn cap_results(&self, cap: ResultCap) {
        *lock(&self.cap) = cap;
    }
    pub(crate) fn cap(&self) -> ResultCap {
        *lock(&self.cap)
    }
    /// Registers a typed tool for as long as `ctx` lives, visible in its scope and below.
    pub fn register<T: Tool>(&self, ctx: &Ctx, tool: T) -> Result<(), RegisterError> {
        self.register_any(ctx, erase(tool))
    }
    /// Registers a tool over JSON. A scope's tool takes the place of an outer one of the same name.
    pub fn register_any(&self, ctx: &Ctx, tool: Arc<dyn AnyTool>) -> Result<(), RegisterError> {
        let spec = tool.spec();
        let name = spec.name.clone();
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(legal) {
            return Err(RegisterError::Name(name));
        }
        let layer = ctx.state::<Layer>();
        let mut tools = lock(&layer.tools);
        if tools.contains_key(&name) {
            return Err(RegisterError::Duplicate(name));
        }
        tools.insert(name.clone(), Arc::new(Entry { tool, spec, schema: OnceLock::new() }));
        drop(tools);
        ctx.on_dispose(move || async move {
            lock(&layer.tools).remove(&name);
        });
        Ok(())
    }
    /// Filters what this scope inherits, for as long as `ctx` lives. Restrictions intersect.
    pub fn restrict(&self, ctx: &Ctx, restriction: Restriction) {
        let (layer, id) = (ctx.state::<Layer>(), self.ids.fetch_add(1, Ordering::Relaxed));
        lock(&layer.restrictions).push((id, restriction));
        ctx.on_dispose(move || async move { lock(&layer.restrictions).retain(|(other, _)| *other != id) });
    }
    /// Adds a guard for as long as `ctx` lives: it runs after every listener of `tools/pre-execute` and may deny
    /// with a reason or abstain. There is no way to allow, so no order of listeners can undo a denial.
    pub fn guard(
        &self,
        ctx: &Ctx,
        name: &'static str,
        guard: impl Fn(&ToolCall) -> Option<String> + Send + Sync + 'static,
    ) {
        let (layer, id) = (ctx.state::<Layer>(), self.ids.fetch_add(1, Ordering::Relaxed));
        lock(&layer.guards).push((id, name, Arc::new(guard)));
        ctx.on_dispose(move || async move { lock(&layer.guards).retain(|(other, ..)| *other != id) });
    }

    /// What the model is told in this scope, sorted by name.
    pub fn specs(&self, ctx: &Ctx) -> Vec<ToolSpec> {
        Self::visible(ctx).into_values().map(|entry| entry.spec.clone()).collect()
    }
    pub(crate) fn find(ctx: &Ctx, name: &str) -> Option<Arc<Entry>> {
        let mut restrictions: Vec<Restriction> = Vec::new();
        for layer in ctx.state_chain::<Layer>() {
            if !restrictions.iter().all(|restriction| restriction.admits(name)) {
                return None;
            }
            if let Some(entry) = lock(&layer.tools).get(name) {
                return Some(Arc::clone(entry));
            }
            restrictions.extend(lock(&layer.restrictions).iter().map(|(_, r)| r.clone()));
        }
        None
    }
    fn visible(ctx: &Ctx) -> BTreeMap<String, Arc<Entry>> {
        let mut visible = BTreeMap::new();
        let mut restrictions: Vec<Restriction> = Vec::new();
        for layer in ctx.state_chain::<Layer>() {
            for (name, entry) in lock(&layer.tools).iter() {
                if restrictions.iter().all(|restriction| restriction.admits(name)) {
                    visible.entry(name.clone()).or_insert_with(|| Arc::clone(entry));
                }
            }
            restrictions.extend(lock(&layer.restrictions).iter().map(|(_, r)| r.clone()));
        }
        visible
    }
    /// Guards of this scope and those around it, outermost first.
    pub(crate) fn guards(ctx: &Ctx) -> Vec<(&'static str, Guard)> {
        let mut layers = ctx.state_chain::<Layer>();
        layers.reverse();
        let guards = |layer: &Arc<Layer>| {
            lock(&layer.guards).iter().map(|(_, name, guard)| (*name, Arc::clone(guard))).collect::<Vec<_>>()
        };
        layers.iter().flat_map(guards).collect()
    }
}
