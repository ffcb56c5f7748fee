//! The tutorial's three plugins, as the examples show them: what is denied does not run, what is too slow is stopped.
#![expect(clippy::duplicate_mod, reason = "each example brings its stage along")]

use std::time::Duration;

use harness_kernel::Order;
use harness_tools::{PreExecute, PreToolDecision};

#[path = "../examples/deadline.rs"]
mod deadline;
#[path = "../examples/invariant_guard.rs"]
mod invariant_guard;
#[path = "../examples/permission_gate.rs"]
mod permission_gate;

#[tokio::test]
async fn the_gate_denies_by_tool_and_by_path() {
    use permission_gate::{PermissionGate, stage::Stage};
    let stage = Stage::with(PermissionGate::denying(&["write", "edit"])).await.unwrap();
    let denied = [
        ("write", r#"{"file_path":"src/main.rs"}"#),
        ("edit", r#"{"file_path":"src/main.rs"}"#),
        ("read", r#"{"file_path":".env"}"#),
        ("read", r#"{"file_path":"config/.env"}"#),
        ("read", r#"{"file_path":".env.local"}"#),
    ];
    for (tool, arguments) in denied {
        let shown = stage.call(tool, arguments).await;
        assert!(shown.starts_with("Error: denied by policy: "), "{tool} {arguments}: {shown}");
    }
    assert!(stage.ran().is_empty(), "no body has run");
    for (tool, arguments) in [
        ("read", r#"{"file_path":"src/environment.rs"}"#),
        ("read", r#"{"file_path":"docs/.environment"}"#),
        ("bash", r#"{"command":"true"}"#),
    ] {
        assert_eq!(stage.call(tool, arguments).await, "done", "{tool} {arguments}");
    }
    assert_eq!(stage.ran().len(), 3);
    stage.end().await.unwrap();
}

/// The gate is policy: a listener in front of it may decide otherwise. That is what guards are for.
#[tokio::test]
async fn the_gate_can_be_overruled_and_the_guard_cannot() {
    let allow = |ctx: &harness_kernel::Ctx| {
        ctx.around_at::<PreExecute, _>(Order::Prepend, |_, _| async { Ok(PreToolDecision::Allow) });
    };
    let gate = permission_gate::PermissionGate::denying(&["write"]);
    let stage = permission_gate::stage::Stage::with(gate).await.unwrap();
    allow(stage.app.ctx());
    assert_eq!(stage.call("write", "{}").await, "done");
    stage.end().await.unwrap();

    let guard = invariant_guard::InvariantGuard { tool: "bash" };
    let stage = invariant_guard::stage::Stage::with(guard).await.unwrap();
    allow(stage.app.ctx());
    assert_eq!(stage.call("bash", "{}").await, "Error: `bash` is disabled in this profile");
    assert_eq!(stage.call("read", "{}").await, "done");
    assert_eq!(stage.ran(), ["read {}"]);
    stage.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_deadline_stops_what_is_too_slow_and_leaves_the_rest_alone() {
    use deadline::{Deadline, stage::Stage};
    let stage = Stage::with(Deadline(Duration::from_secs(30))).await.unwrap();
    assert_eq!(stage.call("bash", r#"{"command":"true"}"#).await, "done");
    let before = tokio::time::Instant::now();
    let shown = stage.call("bash", r#"{"command":"sleep forever"}"#).await;
    assert_eq!(shown, "Error: `bash` ran into its time limit of 30s and was stopped");
    assert_eq!(before.elapsed(), Duration::from_secs(30));
    stage.end().await.unwrap();
}

/// The caller's own cancellation goes through, and is not called a timeout.
#[tokio::test(start_paused = true)]
async fn the_deadline_does_not_take_the_callers_cancellation() {
    use deadline::{Deadline, stage::Stage};
    let stage = Stage::with(Deadline(Duration::from_secs(30))).await.unwrap();
    let cancel = stage.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let before = tokio::time::Instant::now();
    let shown = stage.call("bash", r#"{"command":"sleep forever"}"#).await;
    assert_eq!(shown, "Error: cancelled while the tool was running");
    assert_eq!(before.elapsed(), Duration::from_secs(1));
    stage.end().await.unwrap();
}

/// A plugin's listeners go when it goes.
#[tokio::test]
async fn a_removed_gate_denies_nothing() {
    let gate = permission_gate::PermissionGate::denying(&["write"]);
    let stage = permission_gate::stage::Stage::with(gate).await.unwrap();
    assert!(stage.call("write", "{}").await.starts_with("Error: denied"));
    stage.app.remove("permission-gate").await.unwrap();
    assert_eq!(stage.call("write", "{}").await, "done");
    stage.end().await.unwrap();
}

#[test]
fn each_example_runs_to_its_end() {
    permission_gate::main().unwrap();
    deadline::main().unwrap();
    invariant_guard::main().unwrap();
}
