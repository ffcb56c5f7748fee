//! After the tool: feedback, context, new output, failures, batches, a halt.
use harness_llm_mock::{Reply, ToolCall, txt};
use serde_json::json;

use super::{done, hook, hooked, logged, one_command, prints, says, texts};
use crate::call;

#[test]
fn feedback_stands_beside_the_result_and_the_response_is_structured() {
    let command = "cat > seen.json; echo 'look again' >&2; exit 2";
    let hooks = json!({ "PostToolUse": [{ "matcher": "Write", "hooks": [{ "type": "command", "command": command }] }] });
    let write = call("c1", "write", json!({ "file_path": "a.txt", "content": "x" }));
    let rig = hooked([write, txt("done")], &hooks);
    done(&rig.run("go"));
    let result = rig.tool_result(2);
    assert!(result.contains("created a.txt") && result.contains("look again"), "{result}");
    let seen: serde_json::Value = serde_json::from_slice(&rig.bytes("seen.json")).unwrap();
    let path = rig.workspace().join("a.txt").display().to_string();
    assert_eq!(seen["tool_response"]["filePath"], path);
    assert_eq!(seen["tool_response"]["type"], "create");
}

#[test]
fn an_edit_and_a_read_have_their_shapes_and_a_formatter_may_change_the_file() {
    let hooks = json!({
        "PostToolUse": [
            { "matcher": "Read", "hooks": [{ "type": "command", "command": "cat > read.json" }] },
            { "matcher": "Edit", "hooks": [{ "type": "command",
                "command": "cat > edit.json; echo '# formatted' >> a.txt" }] }
        ]
    });
    let edit = |old: &str, new: &str| json!({ "file_path": "a.txt", "old_string": old, "new_string": new });
    let rig = hooked(
        [
            call("c1", "read", json!({ "file_path": "a.txt" })),
            call("c2", "edit", edit("one", "1")),
            call("c3", "read", json!({ "file_path": "a.txt" })),
            call("c4", "edit", edit("two", "2")),
            txt("done"),
        ],
        &hooks,
    );
    rig.file("a.txt", "one\ntwo\n");
    done(&rig.run("go"));
    let read = |name: &str| serde_json::from_slice::<serde_json::Value>(&rig.bytes(name)).unwrap();
    assert_eq!(read("read.json")["tool_response"]["file"]["content"], "1\ntwo\n# formatted".trim_end());
    let edited = read("edit.json");
    assert_eq!(edited["tool_response"]["oldString"], "two");
    let lines = &edited["tool_response"]["structuredPatch"][0]["lines"];
    assert!(lines.to_string().contains("-two") && lines.to_string().contains("+2"), "{edited}");
    assert_eq!(rig.bytes("a.txt"), b"1\n2\n# formatted\n# formatted\n");
}

#[test]
fn a_failed_call_has_an_event_of_its_own() {
    let hooks = json!({
        "PostToolUse": hook("touch success"),
        "PostToolUseFailure": [{ "matcher": "Bash|Read", "hooks": [
            { "type": "command", "command": "cat >> failures; echo context for it" },
            { "type": "command", "command": prints(&json!({ "hookSpecificOutput":
                { "hookEventName": "PostToolUseFailure", "additionalContext": "try a subshell" } })) }
        ]}]
    });
    let rig = hooked(
        [
            call("c1", "bash", json!({ "command": "echo oops; exit 3" })),
            call("c2", "read", json!({ "file_path": "absent" })),
            txt("done"),
        ],
        &hooks,
    );
    done(&rig.run("go"));
    let failures = String::from_utf8(rig.bytes("failures")).unwrap();
    let lines: Vec<serde_json::Value> =
        failures.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["error"], "Exit code 3\noops\n");
    assert!(lines[0].get("tool_response").is_none() && lines[0]["is_interrupt"] == false);
    assert_eq!(lines[1]["tool_name"], "Read");
    assert!(!rig.workspace().join("success").exists());
    assert!(texts(&rig, 2).contains("try a subshell"));
    assert!(!texts(&rig, 2).contains("context for it"), "plain words are no context here");
}

/// K13: a new output in the right shape replaces the old one; another is ignored, loudly.
#[test]
fn k13_a_new_output_must_have_the_shape_of_the_old_one() {
    let new = |output: serde_json::Value| {
        json!({ "PostToolUse": says(&json!({ "hookSpecificOutput":
            { "hookEventName": "PostToolUse", "updatedToolOutput": output } })) })
    };
    let right = json!({ "stdout": "redacted\n", "stderr": "", "interrupted": false, "isImage": false });
    let rig = hooked(one_command("echo secret"), &new(right));
    done(&rig.run("go"));
    assert_eq!(rig.tool_result(2), "redacted\n");
    let rig = hooked(one_command("echo secret"), &new(json!("redacted")));
    let finished = rig.run("go");
    done(&finished);
    assert_eq!(rig.tool_result(2), "secret\n");
    assert!(finished.stderr.contains("`updatedToolOutput` has no text at /stdout"), "{}", finished.stderr);
}

/// K14: `continue: false` ends the turn, whichever event says it, and beats an allow.
#[test]
fn k14_continue_false_halts_everything() {
    let halt = json!({ "continue": false, "stopReason": "enough for today",
        "hookSpecificOutput": { "permissionDecision": "allow" } });
    for (event, requests, ran) in [
        ("SessionStart", 0, false),
        ("UserPromptSubmit", 0, false),
        ("PreToolUse", 1, false),
        ("PostToolUse", 1, true),
        ("PostToolBatch", 1, true),
        ("Stop", 2, true),
    ] {
        let rig = hooked(one_command("touch ran"), &json!({ event: says(&halt) }));
        let finished = rig.run("go");
        assert_eq!(finished.code, Some(3), "{event}: {}", finished.stderr);
        assert!(finished.stderr.contains("enough for today"), "{event}: {}", finished.stderr);
        assert_eq!(rig.server().requests().len(), requests, "{event}");
        assert_eq!(rig.workspace().join("ran").exists(), ran, "{event}");
    }
}

#[test]
fn a_batch_is_told_of_once_before_the_next_request() {
    let rig = hooked(
        [
            Reply::new()
                .call(ToolCall::new("bash", json!({ "command": "echo a" })).id("c1"))
                .call(ToolCall::new("bash", json!({ "command": "echo b" })).id("c2")),
            txt("done"),
        ],
        &json!({ "PostToolBatch": hook("cat >> batches; echo stop here >&2; exit 2") }),
    );
    let finished = rig.run("go");
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert_eq!(rig.server().requests().len(), 1, "the next request is not made");
    let seen: serde_json::Value = serde_json::from_slice(&rig.bytes("batches")).unwrap();
    assert_eq!(seen["tool_calls"][0]["tool_response"], "a\n");
    assert_eq!(seen["tool_calls"][1]["tool_input"]["command"], "echo b");
    assert_eq!(seen["tool_calls"].as_array().unwrap().len(), 2);
}

/// K17: a long context goes to a file, and the model gets its beginning.
#[test]
fn k17_a_long_context_goes_to_a_file() {
    let rig = hooked([txt("done")], &json!({ "SessionStart": hook("head -c 10001 /dev/zero | tr '\\0' y") }));
    done(&rig.run("go"));
    let text = texts(&rig, 1);
    assert!(text.contains("10001 characters in all") && !text.contains(&"y".repeat(2001)), "{}", text.len());
    let path = text.split("the whole text is in ").nth(1).unwrap().split(']').next().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "y".repeat(10_001));
    let rig = hooked([txt("done")], &json!({ "SessionStart": hook("head -c 10000 /dev/zero | tr '\\0' y") }));
    done(&rig.run("go"));
    assert!(texts(&rig, 1).contains(&"y".repeat(10_000)), "10,000 characters are not cut");
}

#[test]
fn a_message_for_the_person_and_unparsable_json_are_seen() {
    let hooks = json!({
        "PreToolUse": says(&json!({ "systemMessage": "mind the gap" })),
        "PostToolUse": hook("echo '{ \"decision\": block }'")
    });
    let rig = hooked(one_command("true"), &hooks);
    let finished = rig.run("go");
    done(&finished);
    assert!(finished.stderr.contains("hook: mind the gap"), "{}", finished.stderr);
    assert!(finished.stderr.contains("but is not JSON"), "{}", finished.stderr);
    let results = logged(&rig, "hook/result");
    assert!(results.iter().any(|result| result["data"]["error"]["kind"] == "unparsable"), "{results:?}");
}

/// K9 through the binary: a prompt hook is answered by the model of the run.
#[test]
fn k09_a_prompt_hook_asks_the_model_of_the_run() {
    let hooks = json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [
        { "type": "prompt", "prompt": "May it? $ARGUMENTS", "continueOnBlock": true }]}]});
    let verdict = r#"{"ok": false, "reason": "not on a Friday"}"#;
    let [first, last] = one_command("touch ran");
    let rig = hooked([first, txt(verdict), last], &hooks);
    done(&rig.run("go"));
    assert!(!rig.workspace().join("ran").exists());
    assert!(rig.tool_result(3).contains("not on a Friday"), "{}", rig.tool_result(3));
    assert!(rig.request(2).to_string().contains("touch ran"), "the question holds the payload");
}
