//! K4, K5, K6, K8 to K19 and K21 as far as programs go.
use std::time::{Duration, Instant};

use harness_hooks::{
    Decision, Dispatch, FaultKind, HookEvent, HookFile, HookSet, Origin, Profile, Report, Scope,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::rig::{Rig, alive, bash, command, on};

/// Generous: it only tells a hang from an answer.
const BOUND: Duration = Duration::from_secs(20);

async fn one(rig: &Rig, handler: Value) -> Report {
    rig.fire(&on(HookEvent::PreToolUse, &json!([handler])), HookEvent::PreToolUse, bash("ls")).await
}
fn fault(report: &Report) -> FaultKind {
    report.runs[0].error.as_ref().expect("a fault").kind
}

#[tokio::test]
async fn k04_a_hook_that_hangs_is_killed_with_its_children_and_the_call_goes_on() {
    let rig = Rig::new(Profile::Claude);
    let hook = json!({ "type": "command", "command": "sleep 301.25 & sleep 301.25", "timeout": 1 });
    let begun = Instant::now();
    let report = one(&rig, hook).await;
    assert!(begun.elapsed() < BOUND);
    assert_eq!((report.outcome.decision, fault(&report)), (None, FaultKind::Timeout));
    assert!(!alive("301.25"), "a descendant survived");
    let warning = report.warnings().next().unwrap().to_owned();
    assert!(warning.contains("no answer within 1 s") && warning.contains("ignored"), "{warning}");
}

#[tokio::test]
async fn k04_with_on_error_block_a_hook_that_hangs_denies() {
    for key in [("onError", "block"), ("onFailure", "block")] {
        let rig = Rig::new(Profile::Claude);
        let hook = json!({ "type": "command", "command": "sleep 302.5", "timeout": 0.2, key.0: key.1 });
        let report = one(&rig, hook).await;
        assert_eq!(report.outcome.decision, Some(Decision::Deny));
        assert!(report.outcome.reason.unwrap().contains("no answer within"));
    }
}

#[tokio::test]
async fn k05_cancelling_kills_the_group_and_returns() {
    let rig = Rig::new(Profile::Claude);
    let set = on(HookEvent::PreToolUse, &json!([command("touch started; sleep 303.75")]));
    let dispatch: Dispatch = rig.dispatch_of(HookEvent::PreToolUse, bash("ls"));
    let cancel = CancellationToken::new();
    let (report, ()) = tokio::join!(rig.engine.dispatch(&set, &dispatch, &cancel), async {
        while !rig.path().join("started").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    });
    assert_eq!(fault(&report), FaultKind::Cancelled);
    assert_eq!((report.outcome.decision, report.warnings().count()), (None, 0));
    assert!(!alive("303.75"));
}

#[tokio::test]
async fn k06_a_hook_that_never_reads_gets_five_megabytes() {
    let rig = Rig::new(Profile::Claude);
    let set =
        on(HookEvent::PreToolUse, &json!([command("exit 0"), command("exec 0<&-; echo no >&2; exit 2")]));
    let report = rig.fire(&set, HookEvent::PreToolUse, bash(&"x".repeat(5_000_000))).await;
    assert_eq!(report.outcome.reason.as_deref(), Some("no"));
    assert!(report.runs.iter().all(|run| run.error.is_none()));
}

#[tokio::test]
async fn k06_a_flood_is_bounded_and_told() {
    let rig = Rig::new(Profile::Claude);
    let report = one(&rig, command("head -c 50000000 /dev/zero | tr '\\0' x")).await;
    assert_eq!(fault(&report), FaultKind::Flood);
    assert!(report.runs[0].outcome.stdout.len() <= 500);
    let still = one(&rig, command("head -c 50000000 /dev/zero | tr '\\0' x; echo flooded >&2; exit 2")).await;
    assert_eq!(still.outcome.reason.as_deref(), Some("flooded"), "exit 2 blocks all the same");
}

#[tokio::test]
async fn k06_a_daemon_on_the_pipe_delays_nothing_and_is_told_of() {
    let rig = Rig::new(Profile::Claude);
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    let begun = Instant::now();
    let report = one(&rig, command(&format!("sleep 7.125 & echo '{deny}'"))).await;
    assert!(begun.elapsed() < Duration::from_secs(7), "it waited for the daemon");
    assert_eq!(report.outcome.reason.as_deref(), Some("no"));
    assert!(report.runs[0].outcome.left_behind);
}

#[tokio::test]
async fn k19_exec_form_passes_arguments_as_they_are() {
    let rig = Rig::new(Profile::Claude);
    let script = rig.script("show args.sh", "#!/bin/sh\nprintf '%s\\n' \"$@\" > out\n", 0o755);
    let hook = json!({ "type": "command", "command": script, "args": ["a b", "$HOME", "\"q'", "${CLAUDE_PROJECT_DIR}/x"] });
    let report = one(&rig, hook).await;
    assert!(report.runs[0].error.is_none(), "{report:?}");
    let project = rig.path().display().to_string();
    assert_eq!(rig.read("out"), format!("a b\n$HOME\n\"q'\n{project}/x\n"));
}

#[tokio::test]
async fn k19_the_project_folder_may_have_a_space_in_its_name() {
    let rig = Rig::new(Profile::Claude);
    let project = rig.path().join("my project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("hook.sh"), "echo \"$CLAUDE_PROJECT_DIR\" > seen\n").unwrap();
    let set = on(
        HookEvent::PreToolUse,
        &json!([
            command("bash \"${CLAUDE_PROJECT_DIR}/hook.sh\""),
            command("bash \"$CLAUDE_PROJECT_DIR\"/hook.sh")
        ]),
    );
    let mut dispatch = rig.dispatch_of(HookEvent::PreToolUse, bash("ls"));
    dispatch.place.project.clone_from(&project);
    let report = rig.engine.dispatch(&set, &dispatch, &CancellationToken::new()).await;
    assert!(report.runs.iter().all(|run| run.outcome.exit_code == Some(0)), "{report:?}");
    assert_eq!(rig.read("seen").trim(), project.display().to_string());
}

#[tokio::test]
async fn bash_is_the_shell_where_there_is_bash() {
    let rig = Rig::new(Profile::Claude);
    let report = one(&rig, command("X=a.tf; if [[ \"$X\" == *.tf ]]; then echo tf > seen; fi")).await;
    assert!(report.runs[0].error.is_none());
    assert_eq!(rig.read("seen"), "tf\n");
}

#[tokio::test]
async fn k21_a_hook_that_cannot_run_is_told_and_the_action_goes_on() {
    let rig = Rig::new(Profile::Claude);
    let locked = rig.script("locked.sh", "#!/bin/sh\nexit 2\n", 0o644);
    for (hook, code) in [
        (command("/nonexistent/guard"), "exit code 127 (not found)"),
        (command(&locked.display().to_string()), "exit code 126 (not executable)"),
        (command("kill -9 $$"), "signal 9"),
        (command("echo oops >&2; exit 1"), "exit code 1: oops"),
        (json!({ "type": "command", "command": "/nonexistent/guard", "args": [] }), "not found"),
    ] {
        let report = one(&rig, hook).await;
        let warning = report.warnings().next().expect("a warning").to_owned();
        assert!(warning.contains(code), "{warning}");
        assert_eq!(report.outcome.decision, None);
    }
}

#[tokio::test]
async fn k21_when_the_folder_is_gone_the_project_takes_its_place() {
    let rig = Rig::new(Profile::Claude);
    let set = on(HookEvent::PreToolUse, &json!([command("pwd > here")]));
    let mut dispatch = rig.dispatch_of(HookEvent::PreToolUse, bash("ls"));
    dispatch.place.cwd = rig.path().join("gone");
    rig.engine.dispatch(&set, &dispatch, &CancellationToken::new()).await;
    assert!(!rig.read("here").is_empty());
}

#[tokio::test]
async fn json_that_is_none_is_told_and_blocks_where_errors_block() {
    let rig = Rig::new(Profile::Claude);
    let report = one(&rig, command("echo '{ \"decision\": block }'")).await;
    assert_eq!((fault(&report), report.outcome.decision), (FaultKind::Unparsable, None));
    assert_eq!(report.warnings().count(), 1);
    let strict =
        one(&rig, json!({ "type": "command", "command": "echo '{ nope'", "onError": "block" })).await;
    assert_eq!(strict.outcome.decision, Some(Decision::Deny));
    let quiet =
        one(&rig, json!({ "type": "command", "command": "echo '{ nope'", "onError": "ignore" })).await;
    assert_eq!((quiet.outcome.decision, quiet.warnings().count()), (None, 0));
}

#[tokio::test]
async fn a_broken_stop_hook_keeps_no_turn_alive() {
    let rig = Rig::new(Profile::Claude);
    let hook = json!([{ "type": "command", "command": "exit 1", "onError": "block" }]);
    let report = rig.fire(&on(HookEvent::Stop, &hook), HookEvent::Stop, json!({})).await;
    assert_eq!(report.outcome.decision, None);
}

#[tokio::test]
async fn hooks_that_nobody_waits_for_are_handed_back() {
    let rig = Rig::new(Profile::Claude);
    let hooks = json!([
        { "type": "command", "command": "echo later", "async": true },
        { "type": "command", "command": "echo wake >&2; exit 2", "asyncRewake": true }
    ]);
    let set = on(HookEvent::PreToolUse, &hooks);
    let dispatch = rig.dispatch_of(HookEvent::PreToolUse, bash("ls"));
    let report = rig.engine.dispatch(&set, &dispatch, &CancellationToken::new()).await;
    assert!(report.runs.is_empty() && report.outcome.decision.is_none());
    let (entry, event) = &report.background[1];
    let run = rig.engine.run_one(&set, entry, *event, &dispatch, &CancellationToken::new()).await;
    assert_eq!(run.outcome.answer.reason.as_deref(), Some("wake"));
}

#[tokio::test]
async fn a_native_entry_reads_an_envelope() {
    let rig = Rig::new(Profile::Native);
    let text = json!({ "version": 1, "events": { "tool:before": [{ "hooks": [{ "type": "shell", "command": "cat > seen" }] }] } });
    let set =
        HookSet::merge([HookFile::parse(Origin::of(".dsh-hooks.json", Scope::Project), &text.to_string())]);
    rig.fire(&set, HookEvent::PreToolUse, bash("ls")).await;
    let seen: Value = serde_json::from_str(&rig.read("seen")).unwrap();
    assert_eq!(seen["event"], "tool:before");
    assert!(seen["ts"].as_str().unwrap().contains('T') && seen.get("hook_event_name").is_none());
    assert_eq!(seen["tool_name"], "Bash");
}
