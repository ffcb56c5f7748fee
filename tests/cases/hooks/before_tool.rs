//! `PreToolUse`: deny, allow, ask, rewrite.
use harness_llm_mock::txt;
use harness_testkit::KEY;
use serde_json::json;

use super::{done, hook, hooked, logged, one_command, prints, says};
use crate::call;

/// H17: exit 2 without a word, and everything that is not exit 2.
#[test]
fn h17_exit_2_blocks_without_a_word_and_other_ends_are_warnings() {
    let allow =
        json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "allow" } });
    for command in ["exit 2".to_owned(), format!("echo '{allow}'; exit 2")] {
        let rig = hooked(
            one_command("touch ran"),
            &json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [
            { "type": "command", "command": command }]}]}),
        );
        done(&rig.run("go"));
        assert!(!rig.workspace().join("ran").exists(), "{command}");
        assert!(rig.tool_result(2).contains("blocked by hook"), "{}", rig.tool_result(2));
    }
    let locked = |rig: &harness_testkit::Rig| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = rig.file("locked.sh", "exit 2\n");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    };
    for (command, warning) in [
        ("exit 1", "exit code 1"),
        ("exit 127", "exit code 127"),
        ("kill -9 $$", "signal 9"),
        ("\"$CLAUDE_PROJECT_DIR\"/locked.sh", "exit code 126 (not executable)"),
    ] {
        for on_error in ["warn", "block"] {
            let hooks = json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [
                { "type": "command", "command": command, "onError": on_error }]}]});
            let rig = hooked(one_command("touch ran"), &hooks);
            locked(&rig);
            let finished = rig.run("go");
            done(&finished);
            assert!(finished.stderr.contains(warning), "{command}: {}", finished.stderr);
            assert_eq!(rig.workspace().join("ran").exists(), on_error == "warn", "{command} {on_error}");
            if on_error == "block" {
                assert!(rig.tool_result(2).contains(warning), "{}", rig.tool_result(2));
            }
        }
    }
}

/// A hook sees Claude's names, keys, absolute paths and variables; the log has its two events.
#[test]
fn a_hook_sees_what_it_knows() {
    let command = "cat > seen.json; env > env.txt; touch ~/ran";
    let hooks = json!({ "PreToolUse": [{ "matcher": "Write", "hooks": [{ "type": "command", "command": command }] }] });
    let write = call("c1", "write", json!({ "file_path": "src/../a.txt", "content": "x" }));
    let rig = hooked([write, txt("done")], &hooks);
    let finished = rig.run_with("go", []).env("OTEL_EXPORTER", "secret").run();
    done(&finished);
    let seen: serde_json::Value = serde_json::from_slice(&rig.bytes("seen.json")).unwrap();
    let workspace = rig.workspace().display().to_string();
    assert_eq!(seen["tool_name"], "Write");
    assert_eq!(seen["tool_input"]["file_path"], format!("{workspace}/a.txt"));
    assert_eq!((&seen["cwd"], &seen["hook_event_name"]), (&json!(workspace), &json!("PreToolUse")));
    assert_eq!((&seen["tool_use_id"], &seen["permission_mode"]), (&json!("c1"), &json!("default")));
    assert_eq!(seen["session_id"], rig.session());
    let env = String::from_utf8(rig.bytes("env.txt")).unwrap();
    for line in [
        format!("CLAUDE_PROJECT_DIR={workspace}"),
        "CLAUDECODE=1".into(),
        format!("CLAUDE_CODE_SESSION_ID={}", rig.session()),
    ] {
        assert!(env.lines().any(|found| found == line), "{line} is missing in {env}");
    }
    assert!(!env.contains("OTEL_") && env.contains(KEY), "hooks get the person's environment");
    let (invoked, result) = (logged(&rig, "hook/invoked"), logged(&rig, "hook/result"));
    assert_eq!((invoked.len(), result.len()), (1, 1));
    assert_eq!(invoked[0]["data"]["subject"], "Write");
    assert_eq!(result[0]["data"]["exitCode"], 0);
}

/// K12: a rewritten input is validated, logged, shown and run.
#[test]
fn k12_a_new_input_runs_and_is_logged_and_shown() {
    let rewrite = |command: serde_json::Value, decision: &str| {
        prints(&json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
            "permissionDecision": decision, "updatedInput": { "command": command } } }))
    };
    let two = json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [
        { "type": "command", "command": rewrite(json!("echo one > out"), "allow") },
        { "type": "command", "command": rewrite(json!("echo two > out"), "allow") },
        { "type": "command", "command": prints(&json!({})) }
    ]}]});
    let rig = hooked(one_command("echo zero > out"), &two);
    done(&rig.run("go"));
    assert_eq!(
        rig.bytes("out"),
        b"two\n",
        "the last one in the configuration wins, and an empty answer erases nothing"
    );
    let log = std::fs::read_to_string(rig.log_file()).unwrap();
    assert!(log.contains("\"rewritten_by\":[\"hooks\"]"), "{log}");
    assert!(rig.request(2).to_string().contains("echo two > out"), "the history has what ran");

    let rig = hooked(one_command("touch ran"), &json!({ "PreToolUse": hook(&rewrite(json!(5), "allow")) }));
    done(&rig.run("go"));
    assert!(!rig.workspace().join("ran").exists());
    let result = rig.tool_result(2);
    assert!(result.contains("invalid arguments") && result.contains("rewritten by hooks"), "{result}");

    let rig = hooked(
        one_command("touch ran"),
        &json!({ "PreToolUse": hook(&rewrite(json!("touch other"), "ask")) }),
    );
    done(&rig.run("go"));
    assert!(
        !rig.workspace().join("other").exists() && !rig.workspace().join("ran").exists(),
        "nobody could be asked"
    );
    let refused = json!({ "PreToolUse": hook(&rewrite(json!("touch other"), "deny")) });
    let rig = hooked(one_command("touch ran"), &refused);
    done(&rig.run("go"));
    assert!(!rig.workspace().join("other").exists() && !rig.workspace().join("ran").exists());
}

/// K15: the strictest word counts, wherever it was written; a hook's allow never beats a rule.
#[test]
fn k15_deny_before_ask_before_allow() {
    let decide = |decision: &str, reason: &str| {
        says(&json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
            "permissionDecision": decision, "permissionDecisionReason": reason } }))
    };
    let rig = hooked(one_command("touch ran"), &json!({ "PreToolUse": decide("allow", "fine") }));
    rig.file(
        ".claude/settings.local.json",
        json!({ "hooks": { "PreToolUse": decide("ask", "sure?") } }).to_string(),
    );
    let finished = rig.run_with("go", []).env("HARNESS_HOOKS_TRUST_PROJECT", "true").run();
    done(&finished);
    assert!(rig.tool_result(2).contains("needs approval (sure?)"), "{}", rig.tool_result(2));
    let rig = hooked(one_command("touch ran"), &json!({ "PreToolUse": decide("deny", "never") }));
    rig.file(
        ".claude/settings.json",
        json!({ "hooks": { "PreToolUse": decide("allow", "fine") } }).to_string(),
    );
    let finished = rig.run_with("go", []).env("HARNESS_HOOKS_TRUST_PROJECT", "true").run();
    done(&finished);
    assert!(rig.tool_result(2).contains("never"), "{}", rig.tool_result(2));

    let rig = hooked(one_command("touch ran"), &json!({ "PreToolUse": decide("allow", "fine") }));
    done(&rig.run_with("go", ["--deny", "bash(touch *)"]).run());
    assert!(!rig.workspace().join("ran").exists(), "a deny rule beats a hook");
    let rig = hooked(one_command("touch ran"), &json!({ "PreToolUse": decide("deny", "never") }));
    done(&rig.run_with("go", ["--allow", "bash"]).run());
    assert!(!rig.workspace().join("ran").exists(), "a hook's deny beats an allow rule");
}

/// `PermissionRequest` answers in place of the person, and `Notification` tells of the question.
#[test]
fn a_permission_request_is_answered_by_a_hook() {
    let ask = says(
        &json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "ask" } }),
    );
    let answer = |decision: serde_json::Value| {
        says(&json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } }))
    };
    let yes = json!({ "PreToolUse": ask, "PermissionRequest": answer(json!({ "behavior": "allow" })) });
    let rig = hooked(one_command("touch ran"), &yes);
    done(&rig.run("go"));
    assert!(rig.workspace().join("ran").exists());
    let no = json!({ "PreToolUse": ask, "PermissionRequest": answer(json!({ "behavior": "deny", "message": "not today" })) });
    let rig = hooked(one_command("touch ran"), &no);
    done(&rig.run("go"));
    assert!(rig.tool_result(2).contains("not today"), "{}", rig.tool_result(2));
    let told = json!({ "PreToolUse": ask, "Notification": [{ "matcher": "permission_prompt", "hooks": [
        { "type": "command", "command": "cat > told" }]}]});
    let rig = hooked(one_command("touch ran"), &told);
    done(&rig.run("go"));
    assert!(String::from_utf8(rig.bytes("told")).unwrap().contains("permission to use Bash"));
}

/// Matchers are tested against Claude's name and ours; expressions work.
#[test]
fn matchers_know_both_names() {
    for matcher in ["Bash", "bash", "Read|Bash", "^B.*h$", "*"] {
        let hooks = json!({ "PreToolUse": [{ "matcher": matcher, "hooks": [{ "type": "command", "command": "exit 2" }] }] });
        let rig = hooked(one_command("touch ran"), &hooks);
        done(&rig.run("go"));
        assert!(!rig.workspace().join("ran").exists(), "{matcher}");
    }
    let other = json!({ "PreToolUse": [{ "matcher": "Write", "hooks": [{ "type": "command", "command": "exit 2" }] }] });
    let rig = hooked(one_command("touch ran"), &other);
    done(&rig.run("go"));
    assert!(rig.workspace().join("ran").exists() && logged(&rig, "hook/invoked").is_empty());
}
