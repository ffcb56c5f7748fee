//! Bad input: one clear error that names the thing and the remedy, and an exit code that is not 2.
use harness_llm_mock::{Reply, txt};
use harness_testkit::{Finished, Rig};
use serde_json::json;

use crate::{call, rig};

fn fails(finished: &Finished, parts: &[&str]) {
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    let errors: Vec<_> = finished.stderr.lines().filter(|line| line.starts_with("harness:")).collect();
    assert_eq!(errors.len(), 1, "one error: {}", finished.stderr);
    for part in parts {
        assert!(errors[0].contains(part), "`{part}` is not in: {}", errors[0]);
    }
}
fn config(rig: &Rig, text: &str) {
    let path = rig.home().join(".config/harness/config.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn an_unknown_setting_names_file_line_and_suggestion() {
    let rig = rig([]);
    config(&rig, "[model]\nname = \"m\"\nprovidr = \"x\"\n");
    fails(&rig.run("go"), &["config.toml:3", "model.providr", "did you mean `model.provider`?"]);
}
#[test]
fn a_bad_value_names_its_place() {
    let rig = rig([]);
    config(&rig, "[agent]\nmax_steps = \"many\"\n");
    fails(&rig.run("go"), &["config.toml:2", "agent.max_steps"]);
    config(&rig, "[agent]\nsteering = \"some\"\n");
    fails(&rig.run("go"), &["config.toml:2", "agent.steering", "one-at-a-time"]);
}
#[test]
fn a_bad_address_a_missing_key_and_an_unknown_provider_are_told() {
    let rig = rig([]);
    let run = |args: &[&str]| {
        rig.command(["run", "go", "--model", "m"]).args(args).env_remove("OPENAI_API_KEY").run()
    };
    fails(&run(&["--base-url", "not a url"]), &["not a url", "INVALID_ENDPOINT"]);
    fails(&run(&["--provider", "openai"]), &["OPENAI_API_KEY", "MISSING_CREDENTIAL"]);
    fails(&run(&["--provider", "nowhere"]), &["nowhere", "--base-url"]);
}
#[test]
fn a_malformed_stream_is_told_and_the_log_is_balanced() {
    let rig = rig([Reply::new().bytes("data: {\"choices\": oops}\n\ndata: [DONE]\n\n")]);
    fails(&rig.run("go"), &["MALFORMED_RESPONSE"]);
    assert!(rig.story().contains("turn/end 1 error MALFORMED_RESPONSE"));
}
#[test]
fn illegal_rules_and_flags_are_told() {
    let rig = rig([]);
    fails(&rig.run_with("go", ["--deny", "bash("]).run(), &["bash(", "closing"]);
    let usage = rig.command(["run", "go", "--no-such-flag"]).run();
    assert_eq!(usage.code, Some(2));
    let usage = rig.command(["run", "go", "--max-steps", "0"]).run();
    assert_eq!(usage.code, Some(2));
    fails(&rig.run_with("go", ["--cwd", "/no/such/folder"]).run(), &["/no/such/folder"]);
}
#[test]
fn a_session_that_is_not_there_is_told() {
    let rig = rig([]);
    let id = "01a22fc8-e218-7397-83d4-30208df43a19";
    fails(&rig.run_with("go", ["--resume", id]).run(), &[id]);
    fails(&rig.run_with("go", ["--continue"]).run(), &["no stored session"]);
}
#[test]
fn denied_calls_are_results_and_the_work_goes_on() {
    let rig = rig([
        call("c1", "bash", json!({ "command": "touch ran" })),
        call("c2", "nosuch", json!({})),
        txt("ok"),
    ]);
    let finished = rig.run_with("go", ["--deny", "bash"]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(!rig.workspace().join("ran").exists());
    assert!(rig.tool_result(2).contains("denied"), "{}", rig.tool_result(2));
    assert!(rig.tool_result(3).contains("nosuch"), "{}", rig.tool_result(3));
}
#[test]
fn the_step_budget_ends_the_turn_and_says_so() {
    let replies: Vec<_> =
        (0..5).map(|n| call(&format!("c{n}"), "bash", json!({ "command": "true" }))).collect();
    let rig = rig(replies);
    let finished = rig.run_with("go", ["--max-steps", "2"]).run();
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert!(finished.stderr.contains("budget of 2 steps"), "{}", finished.stderr);
    assert!(rig.story().contains("turn/end 1 budget"));
}
#[test]
fn an_untrusted_project_cannot_move_the_endpoint() {
    let rig = rig([txt("ok")]);
    rig.file(".harness/config.toml", "[providers.openai]\nbase_url = \"http://127.0.0.1:1\"\n");
    let finished =
        rig.command(["run", "go", "--provider", "openai", "--model", "m"]).env_remove("OPENAI_API_KEY").run();
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("`providers.openai` is ignored"), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("MISSING_CREDENTIAL"),
        "the built-in address is used: {}",
        finished.stderr
    );
}

/// Names that no provider would take back do not brick the session.
#[test]
fn an_illegal_tool_name_is_answered_and_written_legally() {
    let rig = rig([call("c1", "bash; rm -rf", json!({})), txt("sorry")]);
    let finished = rig.run("go");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let request = rig.request(2);
    let said = request["messages"].as_array().unwrap().iter().find(|message| message["role"] == "assistant");
    assert_eq!(said.unwrap()["tool_calls"][0]["function"]["name"], "bash__rm_-rf");
    assert!(rig.tool_result(2).contains("`bash; rm -rf`"), "{}", rig.tool_result(2));
}

/// One cap for every tool, whatever its own limits are.
#[test]
fn the_central_cap_holds_for_every_result() {
    let rig = rig([
        call("c1", "bash", json!({ "command": "echo HEAD; seq 3000; echo TAIL" })),
        call("c2", "read", json!({ "file_path": "long.txt" })),
        txt("ok"),
    ]);
    rig.file("long.txt", "a line of text\n".repeat(1000));
    let finished = rig.run_with("go", []).env("HARNESS_TOOLS_MAX_RESULT_BYTES", "2000").run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    for result in rig.tool_results(3) {
        assert!(result.len() <= 2000 && result.len() > 1500, "{} bytes", result.len());
        assert!(result.contains("bytes were left out here"), "{result}");
    }
    assert!(rig.tool_results(3)[0].contains("HEAD") && rig.tool_results(3)[0].contains("TAIL"));
}
