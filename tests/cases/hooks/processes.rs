//! H18, K5, K10: hooks that hang, leave children or run beside the work.
use std::time::Duration;

use harness_testkit::{processes, wait_until};
use rustix::process::Signal;
use serde_json::json;

use super::{done, hook, hooked, logged, one_command};

/// H18: a child that is left behind.
#[test]
fn h18_children_of_hooks_delay_nothing() {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    let rig = hooked(
        one_command("touch ran"),
        &json!({ "PreToolUse": hook(&format!("sleep 20.181 & echo '{deny}'")) }),
    );
    let finished = rig.run("go");
    done(&finished);
    assert!(rig.tool_result(2).contains("no") && !rig.workspace().join("ran").exists());
    assert!(finished.elapsed < Duration::from_secs(15), "it waited for the child: {:?}", finished.elapsed);

    let slow = json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "command": "sleep 300.182 & sleep 300.182", "timeout": 1 }] }] });
    let rig = hooked(one_command("touch ran"), &slow);
    let finished = rig.run("go");
    done(&finished);
    assert!(
        finished.stderr.contains("no answer within 1 s") && rig.workspace().join("ran").exists(),
        "{}",
        finished.stderr
    );
    assert!(processes("sleep 300.182").is_empty(), "no descendant is alive");

    let quiet = "exec 3>&1; (sleep 20.183) 1>/dev/null 2>&1 & exit 0";
    let rig = hooked(one_command("touch ran"), &json!({ "PreToolUse": hook(quiet) }));
    let finished = rig.run("go");
    done(&finished);
    assert!(finished.elapsed < Duration::from_secs(15) && rig.workspace().join("ran").exists());
}

/// K5: a signal while a hook runs.
#[test]
fn k05_a_cancelled_turn_kills_its_hooks() {
    let rig =
        hooked(one_command("touch ran"), &json!({ "PreToolUse": hook("touch started; sleep 300.184") }));
    let run = rig.run_with("go", []).start();
    wait_until("the hook runs", || rig.workspace().join("started").exists().then_some(()));
    run.signal(Signal::INT);
    let finished = run.wait();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    let results = logged(&rig, "hook/result");
    assert_eq!(results[0]["data"]["error"]["kind"], "cancelled", "{results:?}");
    assert!(processes("sleep 300.184").is_empty() && !rig.workspace().join("ran").exists());
}

/// K10: what runs beside the work ends with the program.
#[test]
fn k10_a_hook_in_the_background_does_not_outlive_the_program() {
    let hooks = json!({ "PreToolUse": [{ "hooks": [
        { "type": "command", "command": "touch started; sleep 300.185", "async": true }]}]});
    let rig = hooked(one_command("while [ ! -e started ]; do sleep 0.01; done; echo went on"), &hooks);
    let finished = rig.run("go");
    done(&finished);
    assert_eq!(rig.tool_result(2), "went on\n");
    assert!(processes("sleep 300.185").is_empty());
}

/// K10: what it says reaches the model with a later request.
#[test]
fn k10_context_from_the_background_arrives_later() {
    let say = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "additionalContext": "checked in the background" } });
    let hooks = json!({
        "PreToolUse": [{ "hooks": [{ "type": "command", "async": true, "command": format!("echo '{say}'") }] }],
        // Ends the turn only once the background hook's words are in the transcript.
        "Stop": hook("t=$(sed 's/.*\"transcript_path\":\"\\([^\"]*\\)\".*/\\1/'); grep -q 'checked in the background' \"$t\" && exit 0; sleep 0.1; echo more >&2; exit 2")
    });
    let replies = one_command("true").into_iter().chain((0..8).map(|_| harness_llm_mock::txt("done")));
    let rig = hooked(replies, &hooks);
    let finished = rig.run("go");
    done(&finished);
    assert!(!finished.stderr.contains("times in a row"), "it never came: {}", finished.stderr);
}
