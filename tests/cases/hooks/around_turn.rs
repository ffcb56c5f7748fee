//! Sessions, prompts and the end of turns.
use harness_llm_mock::txt;
use serde_json::json;

use super::{done, hook, hooked, logged, one_command, says, texts};
use crate::call;

#[test]
fn a_session_start_is_finished_before_the_first_request() {
    let hooks = json!({ "SessionStart": [
        { "matcher": "startup", "hooks": [{ "type": "command", "command": "sleep 0.3; cat > seen.json; echo 'Project: teapot'" }] },
        { "matcher": "compact", "hooks": [{ "type": "command", "command": "echo never" }] }
    ]});
    let rig = hooked([txt("done")], &hooks);
    done(&rig.run("go"));
    assert!(texts(&rig, 1).contains("Project: teapot") && !texts(&rig, 1).contains("never"));
    let seen: serde_json::Value = serde_json::from_slice(&rig.bytes("seen.json")).unwrap();
    assert_eq!((&seen["source"], seen.get("permission_mode")), (&json!("startup"), None));
}

/// K16: what a hook exports is there for later commands of this session only.
#[test]
fn k16_exports_reach_later_commands_and_no_other_session() {
    let command = "set -eu; case $(cat) in *keep*) ;; esac; [ -e first ] || { touch first; echo 'export PROJECT_TYPE=\"node js\"' >> \"$CLAUDE_ENV_FILE\"; }";
    let replies = (0..3).flat_map(|_| one_command("echo \"[$PROJECT_TYPE]\""));
    let rig = hooked(replies, &json!({ "SessionStart": hook(command) }));
    done(&rig.run("go"));
    assert_eq!(rig.tool_result(2), "[node js]\n");
    done(&rig.resume("go on"));
    assert_eq!(rig.tool_result(4), "[]\n", "the hooks of a resumed session say it again, or it is gone");
    done(&rig.run("go"));
    assert_eq!(rig.tool_result(6), "[]\n", "another session does not have it");
}

/// K22: on resume the hook runs again with its source; stored context is replayed, not made again.
#[test]
fn k22_a_resumed_session_replays_context_and_starts_again() {
    let command = "grep -o '\"source\":\"[a-z]*\"' | tee -a sources | sed 's/^/context of /'";
    let hooks = json!({ "SessionStart": hook(command), "UserPromptSubmit": hook("echo run >> prompts; echo about the prompt") });
    let rig = hooked([txt("one"), txt("two")], &hooks);
    done(&rig.run("first"));
    done(&rig.resume("second"));
    assert_eq!(rig.bytes("sources"), b"\"source\":\"startup\"\n\"source\":\"resume\"\n");
    assert_eq!(rig.bytes("prompts"), b"run\nrun\n", "the first prompt is not shown again");
    let text = texts(&rig, 2);
    assert_eq!(text.matches("about the prompt").count(), 2);
    assert!(text.contains("startup") && text.contains("resume"), "{text}");
    let (first, second) = (rig.request(1), rig.request(2));
    let before = first["messages"].as_array().unwrap();
    assert_eq!(
        &second["messages"].as_array().unwrap()[..before.len()],
        &before[..],
        "the prefix is the same"
    );
}

#[test]
fn a_prompt_gets_context_or_is_erased() {
    let rig = hooked(
        [txt("done")],
        &json!({ "UserPromptSubmit": hook("cat > seen.json; echo 'today is a holiday'") }),
    );
    done(&rig.run("hello"));
    assert!(texts(&rig, 1).contains("today is a holiday"));
    let seen: serde_json::Value = serde_json::from_slice(&rig.bytes("seen.json")).unwrap();
    assert_eq!(seen["prompt"], "hello");
    let block = says(&json!({ "decision": "block", "reason": "no passwords here" }));
    let rig = hooked([txt("done")], &json!({ "UserPromptSubmit": block }));
    let finished = rig.run("my password is x");
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert!(finished.stderr.contains("no passwords here"), "{}", finished.stderr);
    assert!(rig.server().requests().is_empty());
}

/// K11: a stop hook that always blocks goes on exactly so often.
#[test]
fn k11_stop_hooks_keep_a_turn_going_a_bounded_number_of_times() {
    let command = "grep -o '\"stop_hook_active\":[a-z]*' >> flags; [ $(wc -l < flags) -gt 12 ] && exit 0; echo 'again' >&2; exit 2";
    for (cap, requests) in [(None, 9), (Some("3"), 4), (Some("0"), 13)] {
        let rig = hooked((0..20).map(|_| txt("I am done")), &json!({ "Stop": hook(command) }));
        let mut run = rig.run_with("go", []);
        if let Some(cap) = cap {
            run = run.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", cap);
        }
        let finished = run.run();
        done(&finished);
        assert_eq!(rig.server().requests().len(), requests, "cap {cap:?}");
        let flags = String::from_utf8(rig.bytes("flags")).unwrap();
        let flags: Vec<&str> = flags.lines().collect();
        assert_eq!(flags[0], "\"stop_hook_active\":false");
        assert!(flags[1..].iter().all(|flag| *flag == "\"stop_hook_active\":true"), "{flags:?}");
        assert_eq!(finished.stderr.contains("times in a row"), cap != Some("0"), "{}", finished.stderr);
        assert!(texts(&rig, 2).contains("again"));
    }
}

/// A stop hook in the style of loop plugins reads the transcript's bytes.
#[test]
fn a_stop_hook_reads_the_transcript() {
    let script = r#"
input=$(cat)
transcript=$(printf '%s' "$input" | sed 's/.*"transcript_path":"\([^"]*\)".*/\1/')
cp "$transcript" copy.jsonl
grep -q '"role":"assistant"' "$transcript" || { echo 'no assistant messages' >&2; exit 1; }
grep '"role":"assistant"' "$transcript" | tail -1 | grep -q 'ALL-DONE' && exit 0
echo '{"decision":"block","reason":"say the marker","systemMessage":"once more"}'
"#;
    let rig = hooked(
        [call("c1", "bash", json!({ "command": "echo x" })), txt("one"), txt("two"), txt("ALL-DONE")],
        &json!({ "Stop": hook(script) }),
    );
    let finished = rig.run("go");
    done(&finished);
    assert_eq!(rig.server().requests().len(), 4, "{}", finished.stderr);
    let copy = String::from_utf8(rig.bytes("copy.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        copy.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        copy.contains(r#"{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"echo x"}}"#),
        "{copy}"
    );
    assert!(copy.contains(r#"{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"x\n"}],"is_error":false}"#), "{copy}");
    assert!(lines.iter().all(|line| line["sessionId"] == rig.session() && line["uuid"].is_string()));
}

#[test]
fn the_transcript_is_written_only_for_hooks_that_run() {
    let hooks = json!({ "PreToolUse": [{ "matcher": "Write", "hooks": [{ "type": "command", "command": "true" }] }] });
    let rig = hooked(one_command("true"), &hooks);
    done(&rig.run("go"));
    assert!(!rig.home().join(".local/state/harness/hooks").exists());
}

#[test]
fn the_end_and_a_failure_are_told_of() {
    let hooks = json!({ "SessionEnd": hook("cat > end.json"), "StopFailure": hook("cat > failure.json") });
    let rig = hooked([txt("done")], &hooks);
    done(&rig.run("go"));
    let end: serde_json::Value = serde_json::from_slice(&rig.bytes("end.json")).unwrap();
    assert_eq!(end["reason"], "other");
    assert_eq!(logged(&rig, "hook/result").len(), 1, "it is in the log of the session");
    let rig = hooked([], &hooks);
    let finished = rig.run("go");
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    let failure: serde_json::Value = serde_json::from_slice(&rig.bytes("failure.json")).unwrap();
    assert!(failure["error"].is_string() && failure["error_details"].is_string(), "{failure}");
}

/// `PreCompact` may refuse; `PostCompact` is told the summary; `SessionStart` says again what the summary left out.
#[test]
fn compaction_is_asked_about_and_followed_up() {
    let long = |n: usize| format!("fact {n}; ").repeat(800);
    let hooks = json!({
        "PreCompact": [{ "matcher": "manual", "hooks": [{
            "type": "command",
            "command": "cat > pre.json; [ ! -e keep ] || { echo 'not now' >&2; exit 2; }"
        }] }],
        "PostCompact": hook("cat > post.json"),
        "SessionStart": [
            { "matcher": "compact", "hooks": [{ "type": "command", "command": "echo 'Reminder: use pnpm'" }] },
            { "matcher": "startup", "hooks": [{ "type": "command", "command": "echo 'export A=kept' >> \"$CLAUDE_ENV_FILE\"" }] }
        ]
    });
    let [command, last] = one_command("echo \"[$A]\"");
    let replies = [txt(long(1)), txt(long(2)), txt("the short of it"), command, last];
    let rig = hooked(replies, &hooks);
    done(&rig.run("first"));
    done(&rig.resume("second"));

    rig.file("keep", "");
    let id = rig.session();
    let refused = rig.run_with("third", ["--resume", &id, "--compact"]).run();
    assert!(refused.stderr.contains("not now"), "{}", refused.stderr);
    assert!(!rig.workspace().join("post.json").exists(), "nothing was compacted");
    let pre: serde_json::Value = serde_json::from_slice(&rig.bytes("pre.json")).unwrap();
    assert_eq!((&pre["trigger"], &pre["custom_instructions"]), (&json!("manual"), &json!("")));

    std::fs::remove_file(rig.workspace().join("keep")).unwrap();
    let compacted = rig.run_with("fourth", ["--resume", &id, "--compact"]).run();
    done(&compacted);
    let post: serde_json::Value = serde_json::from_slice(&rig.bytes("post.json")).unwrap();
    assert_eq!(post["trigger"], "manual");
    assert!(post["compact_summary"].as_str().unwrap().contains("the short of it"), "{post}");
    let last = texts(&rig, rig.server().requests().len());
    assert!(last.contains("Reminder: use pnpm") && last.contains("the short of it"), "{last}");
}
