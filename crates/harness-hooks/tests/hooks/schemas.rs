//! The committed schemas are those of the types.
use std::path::Path;

use harness_hooks::{Common, EventFields, Payload, ToolFields};
use serde_json::{Value, json};

#[test]
fn the_committed_schemas_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    for (name, schema) in harness_hooks::schemas() {
        let committed: Value = serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap_or_default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let hint = "run `cargo run -p harness-hooks --example write_schemas -- crates/harness-hooks/schema`";
        assert_eq!(committed, schema, "{name} is stale: {hint}");
    }
}

#[test]
fn a_payload_is_one_flat_object() {
    let payload = Payload {
        common: Common {
            session_id: "s".into(),
            transcript_path: "t".into(),
            cwd: "/w".into(),
            ..Common::default()
        },
        event: EventFields::PreToolUse {
            call: ToolFields { tool_name: "Bash".into(), tool_input: json!({}), tool_use_id: "u".into() },
        },
    };
    let expected = json!({
        "session_id": "s", "transcript_path": "t", "cwd": "/w", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {}, "tool_use_id": "u"
    });
    assert_eq!(Value::Object(payload.to_object()), expected);
    let back: Payload = serde_json::from_value(expected).unwrap();
    assert_eq!(back.event().name(), "PreToolUse");
}
