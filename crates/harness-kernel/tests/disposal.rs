//! What happens when contexts end.
#![allow(clippy::unwrap_used, clippy::items_after_statements, reason = "test code")]

mod seam;
use std::sync::Arc;
use std::time::Duration;

use harness_kernel::{Ctx, DisposeError, ProvideError};
use seam::{Approval, Count, Log, ToolResult, Yes, empty_app, result};
use tokio::sync::oneshot;

/// A cleanup that says when it has begun and waits until it may go on.
fn gate(ctx: &Ctx) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
    let ((begun, has_begun), (go, may_go)) = (oneshot::channel(), oneshot::channel::<()>());
    ctx.on_dispose(move || async move {
        begun.send(()).unwrap();
        may_go.await.unwrap();
    });
    (has_begun, go)
}

#[tokio::test]
async fn a_child_of_a_closed_context_is_born_closed() {
    let (app, log) = (empty_app().await, Log::default());
    let agent = app.scope("agent");
    agent.dispose().await.unwrap();
    for child in [agent.fork("fork"), agent.scope("scope"), agent.fork("fork").scope("inner")] {
        assert!(child.is_closed() && child.cancel_token().is_cancelled());
        log.note_results(&child, "heard");
        child.emit(&result("1"));
        let ran = log.clone();
        child.spawn(async move { ran.note("task ran") });
        let refused = child.provide::<dyn Approval>(Arc::new(Yes)).unwrap_err();
        assert!(matches!(&refused, ProvideError::Closed("approval", _)), "{refused}");
        assert_eq!(refused.code(), "context-closed");
        child.replace::<dyn Approval>(Arc::new(Yes));
        assert!(child.service::<dyn Approval>().is_none());
        assert!(child.listeners().is_empty() && child.services().is_empty());
        assert_eq!(Arc::strong_count(&child.state::<()>()), 1, "nobody keeps it");
        child.dispose().await.unwrap();
    }
    tokio::task::yield_now().await;
    assert!(log.take().is_empty());
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_late_cleanup_runs_at_once() {
    let app = empty_app().await;
    let agent = app.scope("agent");
    agent.dispose().await.unwrap();
    let (ran, has_run) = oneshot::channel();
    agent.on_dispose(move || async move { ran.send(()).unwrap() });
    has_run.await.unwrap();
    agent.on_dispose(|| async { panic!("late") });
    while app.contained_panics() == 0 {
        tokio::task::yield_now().await;
    }
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_dropped_disposal_still_finishes() {
    let (app, log) = (empty_app().await, Log::default());
    let agent = app.scope("agent");
    log.note_disposal(&agent, "older cleanup");
    let (begun, go) = gate(&agent);
    tokio::select! {
        biased;
        _ = agent.dispose() => panic!("the gate is closed"),
        begun = begun => begun.unwrap(),
    }
    go.send(()).unwrap();
    while log.take() != ["older cleanup"] {
        tokio::task::yield_now().await; // nobody awaits the disposal, and it goes on
    }
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_context_cannot_be_awaited_to_its_end_from_its_own_tasks() {
    let (app, log) = (empty_app().await, Log::default());
    let agent = app.scope("agent");
    for target in [agent.clone(), app.ctx().clone()] {
        let (answer, refused) = oneshot::channel();
        let turn = agent.fork("turn");
        turn.clone().spawn(async move {
            let outcome = target.dispose().await;
            turn.dispose_soon(); // allowed: it does not wait
            answer.send(outcome).unwrap();
        });
        let refused = refused.await.unwrap().unwrap_err();
        assert!(matches!(refused, DisposeError::FromOwnTask(_)), "{refused}");
        assert_eq!(refused.code(), "dispose-from-own-task");
    }
    assert!(!agent.is_closed());
    // A cleanup would wait for itself as well.
    let (own, notes) = (agent.clone(), log.clone());
    agent.on_dispose(move || async move { notes.note(own.dispose().await.unwrap_err().code()) });
    // A task of the parent may end a child.
    let (child, done) = (agent.fork("child"), oneshot::channel());
    let ended = child.clone();
    agent.spawn(async move { done.0.send(child.dispose().await).unwrap() });
    done.1.await.unwrap().unwrap();
    assert!(ended.is_closed());
    agent.dispose().await.unwrap();
    assert_eq!(log.take(), ["dispose-from-own-task"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn disposing_soon_from_an_own_task_ends_the_context() {
    let (app, log) = (empty_app().await, Log::default());
    let agent = app.scope("agent");
    log.note_disposal(&agent, "cleaned");
    let own = agent.clone();
    let (asked, has_asked) = oneshot::channel();
    agent.spawn(async move {
        own.dispose_soon();
        asked.send(()).unwrap();
        std::future::pending::<()>().await;
    });
    has_asked.await.unwrap();
    agent.dispose().await.unwrap();
    assert_eq!(log.take(), ["cleaned"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn one_cleanup_that_panics_does_not_stop_the_others() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in drop");
        }
    }
    let (app, log) = (empty_app().await, Log::default());
    let agent = app.scope("agent");
    log.note_disposal(&agent, "oldest");
    agent.on_dispose(|| async { panic!("second") });
    agent.on_dispose(|| -> std::future::Ready<()> { panic!("before its future") });
    let child = agent.fork("child");
    log.note_disposal(&child, "child");
    child.on_dispose(|| async { panic!("first") });
    let bomb = Bomb;
    child.on::<ToolResult>(move |_| {
        let _ = &bomb;
    });
    let error = agent.dispose().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "context agent is disposed, but cleanups panicked: in child: in drop; in child: first; \
         in agent: before its future; in agent: second"
    );
    assert_eq!(error.code(), "cleanup-panicked");
    assert_eq!(agent.dispose().await.unwrap_err(), error, "each caller hears it");
    assert_eq!(log.take(), ["child", "oldest"]);
    assert_eq!(app.contained_panics(), 4);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_handle_ends_one_registration_once() {
    let (app, log) = (empty_app().await, Log::default());
    let handle = log.note_results(app.ctx(), "heard");
    log.note_results(app.ctx(), "other");
    app.emit(&result("1"));
    handle.dispose();
    handle.clone().dispose();
    app.emit(&result("2"));
    assert_eq!(log.take(), ["heard:1", "other:1", "other:2"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_ended_child_is_forgotten_by_its_parent() {
    let app = empty_app().await;
    app.provide::<dyn Approval>(Arc::new(Yes)).unwrap();
    let turn = app.scope("turn");
    let lazy = turn.lazy::<dyn Approval>();
    drop(turn.clone());
    assert!(lazy.get().is_some());
    turn.dispose().await.unwrap();
    drop(turn);
    assert!(lazy.get().is_none(), "nothing keeps the scope");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn disposal_awaits_running_tasks_and_cancels_their_children() {
    let (app, log) = (empty_app().await, Log::default());
    let agent = app.scope("agent");
    let signal = agent.fork("turn").cancel_token().child_token();
    struct Noted(Log);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.note("task dropped");
        }
    }
    let (noted, (started, has_started)) = (Noted(log.clone()), oneshot::channel());
    agent.spawn(async move {
        started.send(()).unwrap();
        std::future::pending::<()>().await;
        drop(noted);
    });
    has_started.await.unwrap();
    log.note_disposal(&agent, "cleanup");
    agent.dispose().await.unwrap();
    assert!(signal.is_cancelled());
    assert_eq!(log.take(), ["task dropped", "cleanup"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn what_is_registered_while_tasks_drain_is_undone() {
    let (app, log) = (empty_app().await, Log::default());
    let agent = app.scope("agent");
    let (late, notes) = (agent.clone(), log.clone());
    agent.on_dispose(move || async move {
        notes.note_results(&late, "heard");
        let child = late.fork("late child");
        notes.note_disposal(&child, "child cleanup");
        assert!(child.is_closed());
        child.dispose().await.unwrap();
    });
    agent.dispose().await.unwrap();
    agent.emit(&result("1"));
    while log.take() != ["child cleanup"] {
        tokio::task::yield_now().await;
    }
    assert!(agent.listeners().is_empty());
    app.shutdown().await.unwrap();
}

#[test]
fn contexts_work_outside_the_runtime_and_outlive_it_safely() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let app = runtime.block_on(empty_app());
    let agent = app.scope("agent");
    let ran = Count::default();
    let (seen, (done, is_done)) = (ran.clone(), std::sync::mpsc::channel());
    agent.spawn(async move {
        seen.up();
        done.send(()).unwrap();
    });
    is_done.recv_timeout(Duration::from_mins(1)).unwrap();
    agent.dispose_soon();
    runtime.block_on(agent.dispose()).unwrap();
    assert_eq!(ran.get(), 1);
    drop(runtime);
    let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = other.block_on(app.shutdown()).unwrap_err();
    assert_eq!(error, DisposeError::Aborted("root".to_owned()));
}
