//! Keys stay where they belong.
use harness_llm_mock::txt;
use harness_testkit::KEY;
use serde_json::json;

use crate::{call, rig};

#[test]
fn a_command_sees_no_key_and_no_log_holds_one() {
    let rig = rig([call("c1", "bash", json!({ "command": "env; echo done" })), txt("ok")]);
    let finished = rig
        .run_with("go", [])
        .env("DEEPSEEK_API_KEY", "sk-deep")
        .env("GITHUB_TOKEN", "ghp_1")
        .env("MY_COPY", KEY)
        .env("HARNESS_LOG", "trace")
        .env("EDITOR", "vi")
        .run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let result = rig.tool_result(2);
    assert!(result.contains("EDITOR=vi") && result.contains("done"), "{result}");
    for secret in [KEY, "sk-deep", "ghp_1", "HARNESS_LOG"] {
        assert!(!result.contains(secret), "{secret} is in the environment of commands: {result}");
    }
    rig.assert_no_key(&finished);
    let request = &rig.server().requests()[0];
    assert_eq!(
        request.raw_header("authorization"),
        Some(format!("Bearer {KEY}").as_str()),
        "it does reach the model"
    );
}
