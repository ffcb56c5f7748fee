//! Scripts as files.
#![expect(clippy::disallowed_methods, reason = "writes script files")]
#![expect(clippy::expect_used, reason = "a test may panic")]

use harness_llm_mock::{End, MockError, Reply, Script, ScriptFormat, Step, ToolCall, WhenExhausted};
use serde_json::json;

/// The TOML block of the README.
fn documented() -> &'static str {
    let readme = include_str!("../README.md");
    readme
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("the README shows a script")
}

#[test]
fn the_documented_script_is_read() {
    let script = Script::parse(documented(), ScriptFormat::Toml).unwrap();
    assert_eq!(script.when_exhausted, WhenExhausted::Error);
    let call = ToolCall::new("read", json!({ "file_path": "a.txt" })).pieces(3);
    assert_eq!(script.replies[0], Reply::new().reasoning(["Let me ", "look."]).call(call));
    assert_eq!(script.replies[1].when_last_message_contains.as_deref(), Some("not found"));
    assert_eq!((script.replies[2].status, script.replies[2].headers["retry-after"].as_str()), (429, "1"));
    assert_eq!(script.replies[3].end, End::Reset);
}

#[test]
fn a_script_survives_both_formats() {
    let script = Script::new([
        Reply::new().pieces(["a"]).step(Step::Stall).drip(1, 2).gate("g").times(3).finish("length"),
        Reply::error(500, "x"),
    ]);
    let json = serde_json::to_string(&script).unwrap();
    assert_eq!(Script::parse(&json, ScriptFormat::Json).unwrap(), script);
    let toml = toml::to_string(&script).unwrap();
    assert_eq!(Script::parse(&toml, ScriptFormat::Toml).unwrap(), script);
}

#[test]
fn a_mistake_is_named_with_its_place() {
    for (text, at, part) in [
        (r#"{"replies":[{"steps":[{"txt":["a"]}]}]}"#, "replies[0].steps[0]", "txt"),
        (r#"{"replies":[{},{"stauts":200}]}"#, "replies[1].stauts", "stauts"),
        (r#"{"replies":[{"end":"never"}]}"#, "replies[0].end", "never"),
        (r#"{"replies":[]} {}"#, "end", "trailing"),
    ] {
        let fault = Script::parse(text, ScriptFormat::Json).unwrap_err();
        assert!(matches!(&fault, MockError::Syntax { at: found, .. } if found == at), "{text}: {fault:?}");
        assert!(fault.to_string().contains(part), "{fault}");
    }
    let fault = Script::parse("[[replies]]\nstatus = 'x'", ScriptFormat::Toml).unwrap_err();
    assert!(fault.to_string().contains("replies[0].status"), "{fault}");
    let fault = Script::parse(r#"{"replies":[{},{"times":0}]}"#, ScriptFormat::Json).unwrap_err();
    assert_eq!(fault.code(), "MOCK_SCRIPT_REPLY");
    assert!(fault.to_string().starts_with("reply 2 "), "{fault}");
}

#[test]
fn a_file_is_read_by_its_ending() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.toml");
    std::fs::write(&path, documented()).unwrap();
    assert_eq!(Script::load(&path).unwrap().replies.len(), 4);
    assert_eq!(Script::load(&folder.path().join("script.yaml")).unwrap_err().code(), "MOCK_SCRIPT_FORMAT");
    assert_eq!(Script::load(&folder.path().join("none.json")).unwrap_err().code(), "MOCK_SCRIPT_UNREADABLE");
}

#[test]
fn the_schema_describes_every_key() {
    let schema = Script::schema().to_string();
    for key in ["replies", "when_last_message_contains", "tool_call", "pause_ms", "drip", "without_done"] {
        assert!(schema.contains(&format!("\"{key}\"")), "{key}: {schema}");
    }
}
