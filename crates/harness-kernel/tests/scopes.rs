//! Visibility, order, state, and the catalog of what is registered.
#![allow(clippy::unwrap_used, clippy::items_after_statements, reason = "test code")]

mod seam;
use std::sync::Arc;

use harness_kernel::{Ctx, Mode, Notice, Order};
use seam::{Approval, Execute, Flush, Log, PreExecute, PreTool, ToolResult, Yes, call, empty_app, result};

#[tokio::test]
async fn outer_scopes_come_first_and_prepended_listeners_first_within_their_scope() {
    let (app, log) = (empty_app().await, Log::default());
    let turn = app.scope("agent").scope("turn");
    log.note_results(&turn, "turn");
    log.note_results(app.ctx(), "root");
    log.note_results(&app.fork("plugin"), "plugin");
    for (ctx, tag) in [(&turn, "turn first"), (app.ctx(), "root first")] {
        let notes = log.clone();
        ctx.on_at(Order::Prepend, move |_: &ToolResult| notes.note(tag));
    }
    turn.emit(&result(""));
    assert_eq!(log.take(), ["root first", "root:", "plugin:", "turn first", "turn:"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_waterfall_nests_inner_scopes_in_outer_ones() {
    let (app, log) = (empty_app().await, Log::default());
    let agent = app.scope("agent");
    let wrap = |ctx: &Ctx, order, tag: &'static str| {
        let log = log.clone();
        ctx.around_at::<PreExecute, _>(order, move |event, next| {
            let log = log.clone();
            async move {
                log.note(format!("+{tag}"));
                let decision = next.run(event).await;
                log.note(format!("-{tag}"));
                decision
            }
        });
    };
    wrap(&agent, Order::Append, "agent");
    wrap(&app, Order::Append, "root");
    wrap(&agent, Order::Prepend, "agent first");
    assert_eq!(agent.waterfall(PreExecute(call("ls")), |_| async { PreTool::Allow }).await, PreTool::Allow);
    assert_eq!(log.take(), ["+root", "+agent first", "+agent", "-agent", "-agent first", "-root"]);
    assert_eq!(app.waterfall(PreExecute(call("ls")), |_| async { PreTool::Allow }).await, PreTool::Allow);
    assert_eq!(log.take(), ["+root", "-root"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_change_during_dispatch_counts_from_the_next_dispatch_on() {
    let (app, log) = (empty_app().await, Log::default());
    let (ctx, notes) = (app.ctx().clone(), log.clone());
    app.on::<ToolResult>(move |_| drop(notes.note_results(&ctx, "late")));
    app.emit(&result("1"));
    assert!(log.take().is_empty());
    app.emit(&result("2"));
    assert_eq!(log.take(), ["late:2"]);
    app.shutdown().await.unwrap();
}

/// How many listeners of how many scopes one dispatch looks at, seen from outside: a listener of another
/// agent must not even be cloned.
#[tokio::test]
async fn the_listeners_of_other_agents_are_not_touched_by_a_dispatch() {
    let app = empty_app().await;
    let (agent, other) = (app.scope("agent"), app.scope("other"));
    let kept = Arc::new(());
    let captured = kept.clone();
    let handle = other.on::<ToolResult>(move |_| {
        let _ = &captured;
    });
    // If a dispatch in `agent` held the list of `other`, the removal could not free the listener.
    let (other_handle, seen) = (handle, kept.clone());
    agent.on::<ToolResult>(move |_| {
        other_handle.dispose();
        assert_eq!(Arc::strong_count(&seen), 2, "freed while the dispatch runs");
    });
    agent.emit(&result(""));
    assert_eq!(app.contained_panics(), 0);
    assert_eq!(Arc::strong_count(&kept), 2);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn state_is_one_value_a_scope_and_ends_with_it() {
    #[derive(Default)]
    struct Tally(std::sync::Mutex<Vec<&'static str>>);
    let app = empty_app().await;
    let agent = app.scope("agent");
    let fork = agent.fork("plugin");
    agent.state::<Tally>().0.lock().unwrap().push("agent");
    assert_eq!(*fork.state::<Tally>().0.lock().unwrap(), ["agent"], "forks share it");
    assert!(agent.scope("turn").state::<Tally>().0.lock().unwrap().is_empty(), "inner scopes do not");
    assert!(app.state::<Tally>().0.lock().unwrap().is_empty());
    fork.dispose().await.unwrap();
    let kept = Arc::downgrade(&agent.state::<Tally>());
    let (own, log) = (agent.clone(), Log::default());
    let notes = log.clone();
    agent.on_dispose(move || async move { notes.note(own.state::<Tally>().0.lock().unwrap()[0]) });
    assert_eq!(kept.strong_count(), 1, "a fork's end does not end it");
    agent.dispose().await.unwrap();
    assert_eq!(log.take(), ["agent"], "cleanups still see it");
    assert_eq!(kept.strong_count(), 0);
    assert!(agent.state::<Tally>().0.lock().unwrap().is_empty(), "nothing is kept after the end");
    assert_eq!(Arc::strong_count(&agent.state::<Tally>()), 1);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_catalog_lists_what_a_scope_sees() {
    fn silent<E: Notice>(ctx: &Ctx) {
        ctx.on::<E>(|_| ());
    }
    let app = empty_app().await;
    let agent = app.scope("agent");
    silent::<ToolResult>(&agent);
    app.on_parallel::<Flush, _>(|_| async { Ok(()) });
    app.around::<Execute, _>(|event, next| next.run(event));
    app.provide::<dyn Approval>(Arc::new(Yes)).unwrap();
    agent.replace::<dyn Approval>(Arc::new(Yes));
    let listeners =
        |ctx: &Ctx| ctx.listeners().iter().map(|info| (info.event, info.mode)).collect::<Vec<_>>();
    let outer = [("session/flush", Mode::Parallel), ("tools/execute", Mode::Waterfall)];
    assert_eq!(listeners(&app), outer);
    assert_eq!(listeners(&agent), [("tools/result", Mode::Emit), outer[0], outer[1]]);
    let services: Vec<_> = agent.services().into_iter().map(|info| (info.name, info.scope)).collect();
    assert_eq!(services, [("approval", "agent".to_owned()), ("approval", "root".to_owned())]);
    assert!(agent.services().iter().all(|info| info.plugin.is_none()));
    app.shutdown().await.unwrap();
}
