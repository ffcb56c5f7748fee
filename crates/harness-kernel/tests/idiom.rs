//! The idiom, used the way plugins use it.
#![allow(clippy::unwrap_used, clippy::items_after_statements, reason = "test code")]

mod seam;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use harness_kernel::{App, BoxFuture, Ctx, Lazy, ListenerFailure, Next, Plugin, PluginError, Service};
use seam::{
    Approval, Count, Execute, Flush, Log, PreExecute, PreTool, Shell, Stopping, ToolBash, ToolCall,
    ToolResult, Yes, bash_local, call, empty_app, result,
};

struct Gate;
impl Plugin for Gate {
    type Deps = (Arc<dyn Shell>, Lazy<dyn Approval>);
    fn name(&self) -> &'static str {
        "gate"
    }
    async fn apply(&self, ctx: Ctx, (_, approval): Self::Deps) -> Result<(), PluginError> {
        assert!(approval.get().is_none());
        ctx.around::<PreExecute, _>(async move |event: PreExecute, next: Next<PreExecute>| {
            if &*event.0.name == "rm" {
                return PreTool::Deny("no".into());
            }
            next.run(event).await
        });
        Ok(())
    }
}

#[tokio::test]
async fn consumers_start_after_their_provider_in_any_order() {
    let log = Log::default();
    let app = App::default().with(ToolBash(log.clone())).with(bash_local(&log, "ran")).start().await.unwrap();
    assert_eq!(log.take(), ["+bash-local", "+tool-bash: ran ls"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn unmet_needs_are_named() {
    let error = App::default().with(ToolBash(Log::default())).with(Gate).start().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "plugins cannot start: tool-bash needs bash, but no plugin provides bash; \
         gate needs bash, but no plugin provides bash"
    );
    assert_eq!(error.code(), "plugin-need-unmet");
}

#[tokio::test]
async fn a_listener_can_short_circuit_or_delegate() {
    let app = App::default().with(bash_local(&Log::default(), "")).with(Gate).start().await.unwrap();
    let decide = |name| app.waterfall(PreExecute(call(name)), |_| async { PreTool::Allow });
    assert_eq!(decide("ls").await, PreTool::Allow);
    assert_eq!(decide("rm").await, PreTool::Deny("no".into()));
    app.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_around_listener_can_narrow_the_signal_and_retry() {
    let app = empty_app().await;
    app.around::<Execute, _>(|Execute(call), next| async move {
        let child = call.signal.child_token();
        let _guard = child.clone().drop_guard();
        let inner = Execute(ToolCall { signal: child, ..call });
        tokio::time::timeout(Duration::from_secs(1), next.run(inner)).await.unwrap_or(Err("timed out".into()))
    });
    app.around::<Execute, _>(|event, next| async move {
        match next.clone().run(event.clone()).await {
            Err(_) => next.run(event).await,
            ok => ok,
        }
    });
    let tries = Count::default();
    let flaky = move |_| {
        let try_number = tries.up();
        async move { if try_number == 0 { Err("flaky".into()) } else { Ok("ok".into()) } }
    };
    assert_eq!(app.waterfall(Execute(call("x")), flaky).await, Ok("ok".into()));
    let stuck = |Execute(call): Execute| async move {
        call.signal.cancelled().await;
        Ok("late".into())
    };
    assert_eq!(app.waterfall(Execute(call("x")), stuck).await, Err("timed out".into()));
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn agent_scopes_hear_themselves_and_their_ancestors_hear_them() {
    let (root, log) = (empty_app().await, Log::default());
    let (a, b) = (root.scope("agent a"), root.scope("agent b"));
    for (ctx, tag) in [(root.ctx(), "root"), (&a, "a"), (&b, "b")] {
        log.note_results(ctx, tag);
    }
    a.emit(&result("1"));
    b.emit(&result("2"));
    assert_eq!(log.take(), ["root:1", "a:1", "root:2", "b:2"]);
    a.provide::<dyn Approval>(Arc::new(Yes)).unwrap();
    assert!(a.service::<dyn Approval>().is_some_and(|approval| approval.ask()));
    assert!(b.service::<dyn Approval>().is_none());
    a.dispose().await.unwrap();
    assert!(a.service::<dyn Approval>().is_none());
    a.emit(&result("3"));
    assert_eq!(log.take(), ["root:3"]);
    root.shutdown().await.unwrap();
}

#[tokio::test]
async fn disposal_is_newest_first_cancels_tasks_and_is_idempotent() {
    let (root, log) = (empty_app().await, Log::default());
    let plugin = root.fork("plugin");
    log.note_disposal(&plugin, "first");
    log.note_disposal(&plugin, "second");
    let dropped = Arc::new(());
    let (held, notes) = (dropped.clone(), log.clone());
    plugin.spawn(async move {
        std::future::pending::<()>().await;
        notes.note("never");
        drop(held);
    });
    tokio::task::yield_now().await;
    root.dispose().await.unwrap();
    root.dispose().await.unwrap();
    assert_eq!(log.take(), ["second", "first"]);
    assert_eq!(Arc::strong_count(&dropped), 1);
}

#[tokio::test]
async fn parallel_aggregates_serial_breaks_emit_contains() {
    let app = empty_app().await;
    app.on_parallel::<Flush, _>(|_| async { Err("disk".to_owned()) });
    app.on_parallel::<Flush, _>(|_| async { Ok(()) });
    assert_eq!(app.parallel(Flush).await, [ListenerFailure::Failed("disk".to_owned())]);
    app.on_serial::<Stopping, _>(|_| async { ControlFlow::Continue(()) });
    app.on_serial::<Stopping, _>(|_| async { ControlFlow::Break("goal not met") });
    app.on_serial::<Stopping, _>(|_| async { unreachable!("it was answered before") });
    assert_eq!(app.serial(Stopping).await, Ok(Some("goal not met")));
    let heard = Count::default();
    let seen = heard.clone();
    let bad = app.on::<ToolResult>(|_| panic!("bad observer"));
    app.on::<ToolResult>(move |_| {
        seen.up();
    });
    app.emit(&result(""));
    assert_eq!(app.contained_panics(), 1);
    bad.dispose();
    app.emit(&result(""));
    assert_eq!((heard.get(), app.contained_panics()), (2, 1));
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_late_registration_is_undone_and_racing_disposals_agree() {
    let (root, slow) = (empty_app().await, Count::default());
    let agent = root.scope("agent");
    let cleanup = slow.clone();
    agent.on_dispose(move || async move {
        tokio::task::yield_now().await;
        cleanup.up();
    });
    let second = async {
        agent.dispose().await.unwrap();
        assert_eq!(slow.get(), 1);
    };
    let (first, ()) = tokio::join!(agent.dispose(), second);
    first.unwrap();
    let heard = Count::default();
    let seen = heard.clone();
    agent.on::<ToolResult>(move |_| {
        seen.up();
    });
    agent.emit(&result(""));
    assert_eq!(heard.get(), 0);
    root.shutdown().await.unwrap();
}

#[tokio::test]
async fn disposal_frees_what_listeners_captured() {
    let (root, kept) = (empty_app().await, Arc::new(()));
    let captured = (kept.clone(), root.ctx().clone());
    root.on::<ToolResult>(move |_| {
        let _ = &captured;
    });
    assert_eq!(Arc::strong_count(&kept), 2);
    root.dispose().await.unwrap();
    assert_eq!(Arc::strong_count(&kept), 1);
}

// An `async_trait` seam keyed by its own `dyn` type, and a typed tool with an erased twin.
#[async_trait::async_trait]
trait Files: Send + Sync {
    async fn read(&self, path: &str) -> std::io::Result<String>;
}
impl Service for dyn Files {
    const NAME: &'static str = "fs";
}
struct Memory;
#[async_trait::async_trait]
impl Files for Memory {
    async fn read(&self, path: &str) -> std::io::Result<String> {
        Ok(path.to_uppercase())
    }
}
trait Tool: Send + Sync + 'static {
    type Input: for<'a> From<&'a str> + Send;
    const NAME: &'static str;
    fn run(&self, input: Self::Input) -> impl Future<Output = String> + Send;
}
trait AnyTool: Send + Sync {
    fn name(&self) -> &'static str;
    fn run<'a>(&'a self, raw: &'a str) -> BoxFuture<'a, String>;
}
impl<T: Tool> AnyTool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }
    fn run<'a>(&'a self, raw: &'a str) -> BoxFuture<'a, String> {
        Box::pin(Tool::run(self, T::Input::from(raw)))
    }
}
struct Read(Arc<dyn Files>);
impl Tool for Read {
    type Input = String;
    const NAME: &'static str = "read";
    async fn run(&self, path: String) -> String {
        self.0.read(&path).await.unwrap()
    }
}

#[tokio::test]
async fn seam_tool_and_service_compose() {
    let app = empty_app().await;
    app.provide::<dyn Files>(Arc::new(Memory)).unwrap();
    let tool: Arc<dyn AnyTool> = Arc::new(Read(app.service::<dyn Files>().unwrap()));
    assert_eq!((tool.name(), tool.run("a").await.as_str()), ("read", "A"));
    app.shutdown().await.unwrap();
}
