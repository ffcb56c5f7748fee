//! Random operations: a dispatch hears what the model says, and nothing is left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::items_after_statements, reason = "test code")]

mod seam;
use std::sync::Arc;

use harness_kernel::{Ctx, Deps, Handle, Order};
use proptest::collection::vec;
use proptest::prelude::*;
use seam::{Approval, LocalShell, Log, Shell, ToolResult, Yes, empty_app, result};

/// Indexes are taken modulo what exists.
#[derive(Debug, Clone)]
enum Op {
    Fork(usize),
    Scope(usize),
    Listen(usize, bool),
    Provide(usize),
    Replace(usize),
    Depend(usize),
    Task(usize),
    State(usize),
    DropHandle(usize),
    Dispose(usize),
    DisposeSoon(usize),
    Emit(usize),
}
fn op() -> impl Strategy<Value = Op> {
    let at = 0..64_usize;
    prop_oneof![
        3 => at.clone().prop_map(Op::Fork),
        3 => at.clone().prop_map(Op::Scope),
        6 => (at.clone(), any::<bool>()).prop_map(|(at, first)| Op::Listen(at, first)),
        2 => at.clone().prop_map(Op::Provide),
        2 => at.clone().prop_map(Op::Replace),
        2 => at.clone().prop_map(Op::Depend),
        1 => at.clone().prop_map(Op::Task),
        1 => at.clone().prop_map(Op::State),
        2 => at.clone().prop_map(Op::DropHandle),
        1 => (1..64_usize).prop_map(Op::Dispose),
        1 => (1..64_usize).prop_map(Op::DisposeSoon),
        3 => at.prop_map(Op::Emit),
    ]
}
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

#[derive(Default)]
struct Kept(std::sync::Mutex<Option<Arc<()>>>);

async fn nothing_is_left(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let (app, kept) = (empty_app().await, Arc::new(()));
    let (mut all, mut handles): (Vec<Ctx>, Vec<Handle>) = (vec![app.ctx().clone()], Vec::new());
    for op in ops {
        let ctx = |at: usize| &all[at % all.len()];
        match op {
            Op::Fork(at) => all.push(ctx(at).fork("fork")),
            Op::Scope(at) => all.push(ctx(at).scope("scope")),
            Op::Listen(at, first) => {
                let (order, held) =
                    (if first { Order::Prepend } else { Order::Append }, (kept.clone(), ctx(at).clone()));
                handles.push(ctx(at).on_at(order, move |_: &ToolResult| {
                    let _ = &held;
                }));
            }
            Op::Provide(at) => handles.extend(ctx(at).provide::<dyn Shell>(Arc::new(LocalShell(""))).ok()),
            Op::Replace(at) => handles.push(ctx(at).replace::<dyn Approval>(Arc::new(Yes))),
            Op::Depend(at) => _ = <(Arc<dyn Shell>, Arc<dyn Approval>)>::resolve(ctx(at)),
            Op::Task(at) => {
                let held = (kept.clone(), ctx(at).clone());
                ctx(at).spawn(async move {
                    std::future::pending::<()>().await;
                    drop(held);
                });
            }
            Op::State(at) => *ctx(at).state::<Kept>().0.lock().unwrap() = Some(kept.clone()),
            Op::DropHandle(at) if !handles.is_empty() => handles[at % handles.len()].dispose(),
            Op::Dispose(at) if at % all.len() != 0 => ctx(at).dispose().await.unwrap(),
            Op::DisposeSoon(at) if at % all.len() != 0 => ctx(at).dispose_soon(),
            Op::DropHandle(_) | Op::Dispose(_) | Op::DisposeSoon(_) => {}
            Op::Emit(at) => ctx(at).emit(&result("")),
        }
    }
    app.dispose().await.unwrap();
    for ctx in &all {
        prop_assert!(ctx.is_closed() && ctx.cancel_token().is_cancelled());
        prop_assert!(ctx.listeners().is_empty() && ctx.services().is_empty());
        prop_assert!(ctx.state::<Kept>().0.lock().unwrap().is_none());
    }
    prop_assert_eq!(Arc::strong_count(&kept), 1, "a listener, task or state outlived its owner");
    Ok(())
}

/// One context of the model: its parent and the scope it belongs to, named by the context that opened it.
struct Node {
    ctx: Ctx,
    parent: Option<usize>,
    scope: usize,
    open: bool,
}
struct Heard {
    owner: usize,
    tag: String,
    handle: Handle,
    alive: bool,
}
async fn a_dispatch_agrees_with_the_model(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let (app, log) = (empty_app().await, Log::default());
    let mut tree = vec![Node { ctx: app.ctx().clone(), parent: None, scope: 0, open: true }];
    let mut listeners: Vec<Heard> = Vec::new();
    for (step, op) in ops.into_iter().enumerate() {
        let at = |index: usize| index % tree.len();
        match op {
            Op::Fork(index) => {
                let at = at(index);
                let (ctx, scope, open) = (tree[at].ctx.fork("fork"), tree[at].scope, tree[at].open);
                tree.push(Node { ctx, parent: Some(at), scope, open });
            }
            Op::Scope(index) => {
                let at = at(index);
                let (ctx, scope, open) = (tree[at].ctx.scope("scope"), tree.len(), tree[at].open);
                tree.push(Node { ctx, parent: Some(at), scope, open });
            }
            Op::Listen(index, first) => {
                let (owner, tag, notes) = (at(index), step.to_string(), log.clone());
                let (order, note) = (if first { Order::Prepend } else { Order::Append }, tag.clone());
                let handle = tree[owner].ctx.on_at(order, move |_: &ToolResult| notes.note(note.clone()));
                let heard = Heard { owner, tag, handle, alive: tree[owner].open };
                if first { listeners.insert(0, heard) } else { listeners.push(heard) }
            }
            Op::DropHandle(index) if !listeners.is_empty() => {
                let at = index % listeners.len();
                listeners[at].handle.dispose();
                listeners[at].alive = false;
            }
            Op::Dispose(index) if at(index) != 0 => {
                let at = at(index);
                tree[at].ctx.dispose().await.unwrap();
                for node in at..tree.len() {
                    let ended = node == at
                        || tree[node].parent.is_some_and(|parent| parent >= at && !tree[parent].open);
                    tree[node].open &= !ended;
                }
                for heard in &mut listeners {
                    heard.alive &= tree[heard.owner].open;
                }
            }
            Op::Emit(index) => {
                let at = at(index);
                tree[at].ctx.emit(&result(""));
                // The scopes around this context, outermost first: a scope is named by the node that opened it.
                let mut scopes = vec![tree[at].scope];
                while let Some(parent) = tree[scopes[scopes.len() - 1]].parent {
                    scopes.push(tree[parent].scope);
                }
                let in_scope = |scope: usize| {
                    let here =
                        listeners.iter().filter(|heard| heard.alive && tree[heard.owner].scope == scope);
                    here.map(|heard| heard.tag.clone()).collect::<Vec<_>>()
                };
                let expected: Vec<_> = scopes.iter().rev().flat_map(|scope| in_scope(*scope)).collect();
                prop_assert_eq!(log.take(), expected);
            }
            _ => {}
        }
    }
    app.dispose().await.unwrap();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn nothing_is_left_behind_when_the_root_is_disposed(ops in vec(op(), 0..60)) {
        runtime().block_on(nothing_is_left(ops))?;
    }
    #[test]
    fn a_dispatch_hears_the_living_listeners_around_it_in_order(ops in vec(op(), 0..80)) {
        runtime().block_on(a_dispatch_agrees_with_the_model(ops))?;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_use_neither_hangs_nor_leaves_anything_behind() {
    let (app, kept) = (Arc::new(empty_app().await), Arc::new(()));
    let shared: Vec<_> = (0..4).map(|_| app.scope("agent")).collect();
    let worker = |seed: usize| {
        let (app, kept, shared) = (app.ctx().clone(), kept.clone(), shared.clone());
        async move {
            for round in 0..200 {
                let agent = &shared[(seed + round) % shared.len()];
                let turn = if round % 2 == 0 { agent.fork("turn") } else { agent.scope("turn") };
                let held = (kept.clone(), turn.clone());
                let handle = turn.on::<ToolResult>(move |_| {
                    let _ = &held;
                });
                turn.replace::<dyn Shell>(Arc::new(LocalShell("")));
                let other = app.fork("dependent");
                let _ = <(Arc<dyn Shell>, Arc<dyn Approval>)>::resolve(&turn);
                let _ = <Arc<dyn Shell>>::resolve(&other);
                let own = turn.clone();
                turn.spawn(async move { own.dispose_soon() });
                agent.emit(&result(""));
                handle.dispose();
                if round == 150 && seed == 0 {
                    agent.dispose().await.unwrap();
                }
                turn.dispose().await.unwrap();
                other.dispose_soon();
            }
        }
    };
    let workers: Vec<_> = (0..8).map(|seed| tokio::spawn(worker(seed))).collect();
    let all = async {
        for worker in workers {
            worker.await.unwrap();
        }
        app.dispose().await.unwrap();
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), all).await.expect("a deadlock");
    assert!(app.listeners().is_empty() && app.services().is_empty());
    drop(shared);
    assert_eq!(Arc::strong_count(&kept), 1);
}
