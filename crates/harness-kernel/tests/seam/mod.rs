//! A small seam: the events, services and plugins that the tests share.
#![allow(dead_code, clippy::unwrap_used, reason = "test code; each binary uses a part of it")]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use harness_kernel::{
    App, Around, BoxFuture, Ctx, Event, Notice, Parallel, Plugin, PluginError, Running, Serial, Service,
};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub(crate) struct ToolCall {
    pub(crate) name: Arc<str>,
    pub(crate) signal: CancellationToken,
}
pub(crate) fn call(name: &str) -> ToolCall {
    ToolCall { name: name.into(), signal: CancellationToken::new() }
}
#[derive(Debug, PartialEq)]
pub(crate) enum PreTool {
    Allow,
    Deny(String),
}
#[derive(Clone)]
pub(crate) struct PreExecute(pub(crate) ToolCall);
impl Event for PreExecute {
    const NAME: &'static str = "tools/pre-execute";
}
impl Around for PreExecute {
    type Output = PreTool;
}
#[derive(Clone)]
pub(crate) struct Execute(pub(crate) ToolCall);
impl Event for Execute {
    const NAME: &'static str = "tools/execute";
}
impl Around for Execute {
    type Output = Result<String, String>;
}
pub(crate) struct ToolResult(pub(crate) String);
impl Event for ToolResult {
    const NAME: &'static str = "tools/result";
}
impl Notice for ToolResult {}
pub(crate) fn result(text: &str) -> ToolResult {
    ToolResult(text.to_owned())
}
pub(crate) struct Flush;
impl Event for Flush {
    const NAME: &'static str = "session/flush";
}
impl Parallel for Flush {
    type Error = String;
}
pub(crate) struct Stopping;
impl Event for Stopping {
    const NAME: &'static str = "agent/turn-stopping";
}
impl Serial for Stopping {
    type Answer = &'static str;
}

pub(crate) trait Shell: Send + Sync {
    fn run<'a>(&'a self, command: &'a str) -> BoxFuture<'a, String>;
}
impl Service for dyn Shell {
    const NAME: &'static str = "bash";
}
pub(crate) struct LocalShell(pub(crate) &'static str);
impl Shell for LocalShell {
    fn run<'a>(&'a self, command: &'a str) -> BoxFuture<'a, String> {
        Box::pin(async move { format!("{} {command}", self.0) })
    }
}
pub(crate) trait Approval: Send + Sync {
    fn ask(&self) -> bool;
}
impl Service for dyn Approval {
    const NAME: &'static str = "approval";
}
pub(crate) struct Yes;
impl Approval for Yes {
    fn ask(&self) -> bool {
        true
    }
}

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);
impl Log {
    pub(crate) fn note(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
    /// Notes `entry` when `ctx` is disposed.
    pub(crate) fn note_disposal(&self, ctx: &Ctx, entry: &'static str) {
        let log = self.clone();
        ctx.on_dispose(move || async move { log.note(entry) });
    }
    /// Notes `tag` and the text of each result heard on `ctx`.
    pub(crate) fn note_results(&self, ctx: &Ctx, tag: &'static str) -> harness_kernel::Handle {
        let log = self.clone();
        ctx.on::<ToolResult>(move |result| log.note(format!("{tag}:{}", result.0)))
    }
}

/// A plugin without needs, made of a closure.
pub(crate) struct Simple<F>(pub(crate) &'static str, pub(crate) F);
impl<F: Fn(Ctx) -> Result<(), PluginError> + Send + Sync + 'static> Plugin for Simple<F> {
    type Deps = ();
    fn name(&self) -> &'static str {
        self.0
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        (self.1)(ctx)
    }
}
/// Provides [`Shell`] and notes its start and end.
pub(crate) fn bash_local(log: &Log, says: &'static str) -> impl Plugin + use<> {
    let log = log.clone();
    Simple("bash-local", move |ctx: Ctx| {
        log.note("+bash-local");
        log.note_disposal(&ctx, "-bash-local");
        ctx.provide::<dyn Shell>(Arc::new(LocalShell(says)))?;
        Ok(())
    })
}
/// Needs [`Shell`], runs one command with it when it starts and one when it ends.
pub(crate) struct ToolBash(pub(crate) Log);
impl Plugin for ToolBash {
    type Deps = Arc<dyn Shell>;
    fn name(&self) -> &'static str {
        "tool-bash"
    }
    async fn apply(&self, ctx: Ctx, shell: Self::Deps) -> Result<(), PluginError> {
        let log = self.0.clone();
        log.note(format!("+tool-bash: {}", shell.run("ls").await));
        let seen = ctx.clone();
        ctx.on_dispose(move || async move {
            let provided = seen.service::<dyn Shell>().is_some();
            log.note(format!("-tool-bash: provider there {provided}"));
        });
        Ok(())
    }
}

pub(crate) async fn empty_app() -> Running {
    App::default().start().await.unwrap()
}
/// A counter that a listener can raise.
#[derive(Clone, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);
impl Count {
    pub(crate) fn up(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}
