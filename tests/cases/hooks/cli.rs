//! K20: `harness hooks` through the binary.
use std::fs::File;

use harness_llm_mock::txt;
use harness_testkit::{Finished, Input, Rig};
use serde_json::{Value, json};

use super::{hook, settings};
use crate::rig;

fn with_hooks() -> Rig {
    let rig = rig([]);
    settings(
        &rig,
        &json!({ "hooks": {
            "PreToolUse": [
                { "matcher": "Bash", "hooks": [{ "type": "command", "command": "grep -q forbidden && exit 2; true" }] },
                { "matcher": "mcp__github", "hooks": [{ "type": "command", "command": "true" }] }
            ],
            "TeammateIdle": hook("true"),
            "SubagentStop": hook("true")
        }}),
    );
    rig.file(".claude/settings.json", json!({ "hooks": { "Stop": hook("true") } }).to_string());
    rig
}
fn hooks(rig: &Rig, args: &[&str]) -> Finished {
    rig.command(["hooks"].iter().chain(args)).run()
}

#[test]
fn k20_list_says_what_runs_and_what_does_not() {
    let rig = with_hooks();
    let finished = hooks(&rig, &["list"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let text = finished.stdout.replace(&rig.root().display().to_string(), "…");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("hooks-listed", text));
    let lines = hooks(&rig, &["list", "--json"]).stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines.iter().map(|line| line["runs"] == true).collect::<Vec<_>>(),
        [true, true, false, false, false]
    );
}

#[test]
fn k20_validate_tells_the_place_and_exits_with_1() {
    let rig = with_hooks();
    let finished = hooks(&rig, &["validate"]);
    assert_eq!(finished.code, Some(0), "a warning is no error: {}", finished.stderr);
    assert!(
        finished.stdout.contains("hooks[PreToolUse][1]: `mcp__github` names a server"),
        "{}",
        finished.stdout
    );
    assert_eq!(hooks(&rig, &["validate", "--strict"]).code, Some(1));
    settings(&rig, &json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "telepathy" }] }] } }));
    let finished = hooks(&rig, &["validate", "--json"]);
    assert_eq!(finished.code, Some(1));
    let found: Value = serde_json::from_str(finished.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((&found["severity"], &found["locator"]), (&json!("error"), &json!("hooks[Stop][0].hooks[0]")));
    let absent = hooks(&rig, &["validate", "--config", "absent.json"]);
    assert_eq!(absent.code, Some(1));
    assert!(absent.stderr.contains("absent.json cannot be read"), "{}", absent.stderr);
}

#[test]
fn k20_run_exits_with_0_2_and_1() {
    let rig = with_hooks();
    let run = |payload: &str| hooks(&rig, &["run", "--event", "PreToolUse", "--payload", payload]);
    let pass = run(&json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } }).to_string());
    assert_eq!(pass.code, Some(0), "{}", pass.stderr);
    let line: Value = serde_json::from_str(&pass.stdout).unwrap();
    assert_eq!((&line["outcome"]["decision"], line["runs"].as_array().unwrap().len()), (&json!("none"), 1));
    let denied = run(&json!({ "tool_name": "Bash", "tool_input": { "command": "forbidden" } }).to_string());
    assert_eq!(denied.code, Some(2), "{}", denied.stderr);
    assert_eq!(run("not json").code, Some(1));
    let unknown = hooks(&rig, &["run", "--event", "Teatime", "--payload", "{}"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("unknown event `Teatime`"), "{}", unknown.stderr);
    let other = hooks(&rig, &["run", "--event", "tool:before", "--subject", "Read", "--payload", "{}"]);
    assert_eq!(serde_json::from_str::<Value>(&other.stdout).unwrap()["runs"], json!([]));
}

#[test]
fn k20_listen_answers_each_line_and_ends_with_bye_or_the_end() {
    let rig = with_hooks();
    let listen = |lines: &[String]| {
        let path = rig.file("requests", lines.join("\n"));
        let finished = rig.command(["hooks", "listen"]).input(Input::Open(File::open(path).unwrap())).run();
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let dispatch = json!({ "op": "dispatch", "event": "PreToolUse",
        "payload": { "tool_name": "Bash", "tool_input": { "command": "forbidden" } } });
    let answers = listen(&[
        json!({ "op": "ping" }).to_string(),
        String::new(),
        "broken".into(),
        dispatch.to_string(),
        json!({ "op": "reload" }).to_string(),
        json!({ "op": "bye" }).to_string(),
        json!({ "op": "ping" }).to_string(),
    ]);
    assert_eq!(answers.len(), 5, "nothing after the end: {answers:?}");
    assert_eq!(answers[0], json!({ "ok": true, "pong": true }));
    assert_eq!(answers[1]["ok"], false);
    assert_eq!(answers[2]["outcome"]["decision"], "deny");
    assert_eq!(answers[3]["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(answers[4], json!({ "ok": true }));
    assert_eq!(listen(&[json!({ "op": "ping" }).to_string()]).len(), 1);
}

/// A prompt hook over the scripted endpoint.
#[test]
fn k20_oracles_ask_an_endpoint() {
    let rig = rig([txt("```json\n{\"ok\": false, \"reason\": \"not on a Friday\"}\n```")]);
    let file = rig.file(
        "hooks.json",
        json!({ "hooks": { "PreToolUse": [{ "hooks": [
        { "type": "prompt", "prompt": "May it? $ARGUMENTS" }]}]}})
        .to_string(),
    );
    let url = rig.server().base_url();
    let finished = hooks(
        &rig,
        &[
            "run",
            "--config",
            file.to_str().unwrap(),
            "--event",
            "PreToolUse",
            "--payload",
            "{\"tool_name\":\"Bash\"}",
            "--llm-base-url",
            &url,
            "--llm-model",
            "small",
        ],
    );
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    assert!(finished.stdout.contains("not on a Friday"));
    let request = rig.request(1);
    assert_eq!((&request["model"], &request["temperature"]), (&json!("small"), &json!(0)));
    assert!(request["messages"][0]["content"].as_str().unwrap().contains("\"tool_name\":\"Bash\""));
}

#[test]
fn k20_dump_is_one_json_object() {
    let rig = with_hooks();
    let dump: Value = serde_json::from_str(&hooks(&rig, &["dump"]).stdout).unwrap();
    assert_eq!(dump["hooks"].as_array().unwrap().len(), 4);
    assert_eq!(dump["untrusted"].as_array().unwrap().len(), 1);
}
