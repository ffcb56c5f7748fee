//! K18 and the lints: broken entries disable themselves alone, with their place.
use harness_hooks::{Dialect, HookEvent, HookFile, HookSet, Origin, Profile, Scope};
use serde_json::{Value, json};

fn file(name: &str, scope: Scope, value: &Value) -> HookFile {
    HookFile::parse(Origin::of(name, scope), &value.to_string())
}
fn findings(file: &HookFile) -> String {
    file.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn k18_a_broken_entry_keeps_the_rest() {
    let hooks = json!({ "hooks": {
        "PreToolUse": [
            { "matcher": "Edit(", "hooks": [{ "type": "command", "command": "never" }] },
            { "matcher": "Bash", "hooks": [
                { "type": "command" },
                { "type": "telepathy" },
                { "type": "command", "command": "a", "timeout": "soon" },
                { "type": "command", "command": "b", "if": "not a rule" },
                { "type": "mcp_tool", "server": "s", "tool": "t" },
                "nonsense",
                { "type": "command", "command": "runs", "unknown": true }
            ]},
            { "matcher": "Bash" },
            7
        ],
        "SessionStart": [{ "hooks": [{ "type": "prompt", "prompt": "hm" }] }],
        "NoSuchEvent": [{ "hooks": [] }],
        "TeammateIdle": [{ "hooks": [{ "type": "command", "command": "never fires here" }] }],
        "Stop": { "hooks": [] }
    }});
    let file = file("settings.json", Scope::User, &hooks);
    let left: Vec<&str> = file.entries.iter().map(|entry| entry.handler.summary()).collect();
    assert_eq!(left, ["runs", "never fires here"]);
    insta::assert_snapshot!(findings(&file));
}

#[test]
fn k18_a_file_that_is_no_json_is_told_of() {
    let broken = HookFile::parse(Origin::of("settings.json", Scope::User), "{ \"hooks\": \n nope");
    assert!(broken.entries.is_empty());
    assert!(findings(&broken).contains("line 2"), "{}", findings(&broken));
}

#[test]
fn k18_the_strongest_word_on_disabling_counts_and_managed_hooks_survive() {
    let hooks = |disable: Option<bool>| {
        let mut value =
            json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "x" }] }] } });
        if let Some(disable) = disable {
            value["disableAllHooks"] = disable.into();
        }
        value
    };
    let scopes = |files: Vec<HookFile>| -> Vec<Scope> {
        HookSet::merge(files).entries().iter().map(|entry| entry.origin.scope).collect()
    };
    let three = |user, local, managed| {
        scopes(vec![
            file("u.json", Scope::User, &hooks(user)),
            file("l.json", Scope::Local, &hooks(local)),
            file("m.json", Scope::Managed, &hooks(managed)),
        ])
    };
    let all = [Scope::User, Scope::Local, Scope::Managed];
    assert_eq!(three(None, None, None), all);
    assert_eq!(three(Some(true), None, None), [Scope::Managed]);
    assert_eq!(three(Some(true), Some(false), None), all);
    assert_eq!(three(None, None, Some(true)), []);
    assert_eq!(three(Some(true), None, Some(false)), all);
}

#[test]
fn lints_name_what_is_probably_not_meant() {
    let hooks = json!({ "hooks": {
        "PreToolUse": [
            { "matcher": "mcp__github", "hooks": [{ "type": "command", "command": "echo $CLAUDE_TOOL_INPUT" }] },
            { "matcher": "MultiEdit|Write", "hooks": [
                { "type": "command", "command": "test -f x || exit 1", "timeout": 5000 },
                { "type": "command", "command": "/nonexistent/guard.sh" }
            ]}
        ],
        "Stop": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "true", "if": "Bash" }] }]
    }});
    insta::assert_snapshot!(findings(&file("settings.json", Scope::User, &hooks)));
}

#[test]
fn the_other_dialects_are_tables() {
    let group = json!([{ "matcher": "bash", "hooks": [{ "type": "subagent", "prompt": "look" }] }]);
    let opencode = file(
        "opencode.json",
        Scope::User,
        &json!({ "hooks": { "tool.execute.before": group, "session.idle": group } }),
    );
    assert_eq!(opencode.origin.dialect, Dialect::Opencode);
    assert_eq!(opencode.entries[0].events, [HookEvent::PreToolUse]);
    assert!(
        opencode.entries[0].wants(HookEvent::PreToolUse, &["mybash"], None, Profile::Claude),
        "always an expression"
    );
    let native = file(
        "dsh-hooks.json",
        Scope::User,
        &json!({ "events": { "tool:after": [{ "hooks": [{ "type": "shell", "command": "x" }] }] } }),
    );
    assert_eq!(native.entries[0].events, [HookEvent::PostToolUse, HookEvent::PostToolUseFailure]);
    assert_eq!(native.entries[0].id, "native:dsh-hooks.json:tool:after:0:0");
    assert_eq!(file("hooks.json", Scope::User, &json!({})).origin.dialect, Dialect::Codex);
}

#[test]
fn each_dialect_has_its_own_events_and_kinds() {
    let groups = |kind: &str| json!([{ "hooks": [{ "type": kind, "command": "x", "prompt": "x", "url": "http://127.0.0.1:1" }] }]);
    let left = |name: &str, value: Value| -> Vec<String> {
        file(name, Scope::User, &value).entries.into_iter().map(|entry| entry.spelling).collect()
    };
    let all = json!({ "PreToolUse": groups("command"), "PreCompact": groups("command"),
        "PostToolUseFailure": groups("command"), "session.idle": groups("command"), "turn:stop": groups("command") });
    let codex = file("hooks.json", Scope::User, &json!({ "hooks": all }));
    let told = findings(&codex);
    assert!(told.contains("no event of codex is called `PreCompact`"), "{told}");
    assert!(told.contains("no event of codex is called `PostToolUseFailure`"), "{told}");
    assert_eq!(left("opencode.json", json!({ "hooks": all })), ["session.idle", "turn:stop"]);
    let kinds = json!({ "session.created": groups("http"), "tool.execute.before": groups("prompt"),
        "chat.message": groups("subagent") });
    assert_eq!(left("opencode.json", json!({ "hooks": kinds })), ["session.created", "chat.message"]);
    let native = json!({ "session:start": groups("webhook"), "session:end": groups("oracle") });
    assert_eq!(left("dsh-hooks.json", json!({ "events": native })), ["session:start", "session:end"]);
    let claude = json!({ "SessionStart": groups("http"), "SessionEnd": groups("prompt") });
    assert_eq!(left("settings.json", json!({ "hooks": claude })), [""; 0]);
}

#[test]
fn opencode_files_may_have_comments_and_last_commas() {
    let origin = || Origin::of("opencode.jsonc", Scope::User);
    let text = "\u{feff}{ // the ünusual, \"form\"\n \"hooks\": { /* two \n lines */ \"session.idle\": [\n  { \"hooks\": [{ \"command\": \"echo // no /* comment, ] */ \\\" ,}\" , }, ], },\n ],\n }, }";
    let file = HookFile::parse(origin(), text);
    assert_eq!(findings(&file), "");
    assert_eq!(file.entries[0].handler.summary(), "echo // no /* comment, ] */ \" ,}");
    let broken = HookFile::parse(origin(), "{ /* ü */ \"hooks\": nope }");
    assert!(findings(&broken).contains("line 1 column 22"), "{}", findings(&broken));
    let claude = HookFile::parse(Origin::of("settings.json", Scope::User), text);
    assert!(findings(&claude).contains("not JSON"), "strict where Claude Code is");
}
