//! K20: the line protocol, every operation and every error.
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use harness_hooks::{Engine, HookFile, HookSet, Listener, Origin, Profile, Reply, Scope};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

fn hooks(reads: u32) -> HookSet {
    let mut value = json!({ "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [
                { "type": "command", "command": "grep -q 'rm -rf' && { echo 'not here' >&2; exit 2; } || echo fine" },
                { "type": "command", "command": "exit 7", "if": "Bash(ls *)" }
            ]}
        ],
        "PostToolUse": [{ "hooks": [{ "type": "command", "command": "echo after >&2; exit 2" }] }],
        "tool:after": [{ "hooks": [{ "type": "command", "command": "echo always" }] }],
        "SessionStart": [{ "hooks": [{ "type": "command", "command": "pwd >/dev/null; echo context" }] }]
    }});
    if reads > 1 {
        value["hooks"]["Stop"] = json!([{ "hooks": [{ "type": "telepathy" }] }]);
    }
    HookSet::merge([HookFile::parse(Origin::of("settings.json", Scope::Project), &value.to_string())])
}

fn steady(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(duration) = object.get_mut("durationMs") {
                *duration = 0.into();
            }
            object.values_mut().for_each(steady);
        }
        Value::Array(items) => items.iter_mut().for_each(steady),
        _ => {}
    }
}

#[tokio::test]
async fn k20_every_operation_and_every_error() {
    let rig = Rig::new(Profile::Native);
    let reads = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&reads);
    let mut listener = Listener::new(Engine::new(Profile::Native), rig.place(), move || {
        hooks(count.fetch_add(1, Ordering::Relaxed) + 1)
    });
    let bash = |command: &str| json!({ "tool_name": "Bash", "tool_input": { "command": command } });
    let requests = [
        r#"{"op":"ping"}"#.to_owned(),
        "   ".to_owned(),
        json!({ "op": "dispatch", "event": "PreToolUse", "payload": bash("rm -rf /") }).to_string(),
        json!({ "op": "dispatch", "event": "tool:before", "payload": bash("ls"), "subject": "Read" })
            .to_string(),
        json!({ "op": "dispatch", "event": "PostToolUse", "payload": bash("ls") }).to_string(),
        json!({ "op": "dispatch", "event": "PostToolUseFailure", "payload": bash("ls") }).to_string(),
        json!({ "op": "dispatch", "event": "session.created", "cwd": "." }).to_string(),
        r#"{"op":"reload"}"#.to_owned(),
        "not json".to_owned(),
        "[1]".to_owned(),
        "{}".to_owned(),
        r#"{"op":"sing"}"#.to_owned(),
        r#"{"op":"dispatch"}"#.to_owned(),
        r#"{"op":"dispatch","event":"Teatime"}"#.to_owned(),
        r#"{"op":"dispatch","event":"Stop","payload":5}"#.to_owned(),
        r#"{"op":"dispatch","event":"Stop","subject":5}"#.to_owned(),
        r#"{"op":"bye"}"#.to_owned(),
    ];
    let mut transcript = String::new();
    for request in requests {
        let reply = listener.answer(&request, &CancellationToken::new()).await;
        let (mark, mut value) = match reply {
            Reply::Nothing => ("(nothing)", Value::Null),
            Reply::Line(value) => ("<", value),
            Reply::Bye(value) => ("< (end)", value),
        };
        steady(&mut value);
        let text = if value.is_null() { String::new() } else { format!(" {value}") };
        writeln!(transcript, "> {request}\n{mark}{text}").unwrap();
    }
    assert_eq!(reads.load(Ordering::Relaxed), 2);
    insta::assert_snapshot!(transcript);
}
