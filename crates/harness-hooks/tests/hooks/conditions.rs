//! K7: `if` rules.
use std::path::Path;

use harness_hooks::{Condition, HookEvent, Profile, ToolFacts};
use serde_json::{Value, json};

use crate::rig::{Rig, set_of};

fn holds(rule: &str, name: &str, input: &Value) -> bool {
    let facts = ToolFacts {
        name,
        input,
        cwd: Path::new("/w/sub"),
        root: Path::new("/w"),
        home: Some(Path::new("/home/me")),
    };
    Condition::parse(rule).unwrap().holds(facts)
}
fn bash(rule: &str, command: &str) -> bool {
    holds(rule, "Bash", &json!({ "command": command }))
}
fn edits(rule: &str, tool: &str, path: &str) -> bool {
    holds(rule, tool, &json!({ "file_path": path }))
}

#[test]
fn k07_commands() {
    let yes = [
        ("Bash(git *)", "git push"),
        ("Bash(git:*)", "git push"),
        ("Bash(git *)", "git"),
        ("Bash(ls*)", "lsof"),
        ("Bash", "anything"),
        ("Bash(*)", "anything"),
        ("Bash(git *)", "FOO=1 BAR=2 git push"),
        ("Bash(git *)", "cd x && git push"),
        ("Bash(git *)", "echo a; git push"),
        ("Bash(git *)", "cat x | git apply"),
        ("Bash(git *)", "echo $(git log)"),
        ("Bash(git *)", "echo `git log`"),
        ("Bash(git *)", "echo \"$(git log)\""),
        ("Bash(rm *)", "echo 'unclosed"),
        ("Bash(git push *)", "$TOOL push"),
        ("Bash(npm run test)", "npm run test"),
    ];
    let no = [
        ("Bash(ls *)", "lsof"),
        ("Bash(git *)", "gitk"),
        ("Bash(git *)", "echo 'git push'"),
        ("Bash(git *)", "echo $HOME"),
        ("Bash(npm run test)", "npm run test:unit"),
        ("Read(git *)", "git push"),
    ];
    for (rule, command) in yes {
        assert!(bash(rule, command), "{rule} should hold for {command}");
    }
    for (rule, command) in no {
        assert!(!bash(rule, command), "{rule} should not hold for {command}");
    }
}

#[test]
fn k07_paths() {
    assert!(edits("Edit(*.rs)", "Write", "/w/sub/src/a.rs"), "a name fits at any depth");
    assert!(edits("Edit(src/**)", "NotebookEdit", "/w/sub/src/deep/a.ipynb"));
    assert!(edits("Edit(/docs/**)", "Edit", "/w/docs/a.md"), "a slash is the root of the settings");
    assert!(edits("Read(//etc/passwd)", "Read", "/etc/passwd"));
    assert!(edits("Read(~/.ssh/**)", "Read", "/home/me/.ssh/id"));
    assert!(edits("Edit(src/*.rs)", "Edit", "src/a.rs"), "relative paths start at the folder");
    assert!(!edits("Edit(src/*.rs)", "Edit", "/w/sub/src/deep/a.rs"));
    assert!(!edits("Edit(*.rs)", "Read", "/w/sub/a.rs"));
    assert!(!edits("Edit(/docs/**)", "Edit", "/other/docs/a.md"));
}

#[test]
fn k07_hosts() {
    let fetch = |rule: &str| holds(rule, "WebFetch", &json!({ "url": "https://me@docs.rs:443/x?y" }));
    assert!(fetch("WebFetch(domain:docs.rs)") && fetch("WebFetch(domain:*.rs)"));
    assert!(!fetch("WebFetch(domain:rs)"));
}

#[test]
fn k07_what_is_no_rule_is_told() {
    for text in ["", "Bash(", "two words", "Bash(x) y"] {
        assert!(Condition::parse(text).is_err(), "{text}");
    }
}

#[tokio::test]
async fn k07_on_an_event_that_is_not_about_a_tool_it_never_runs() {
    let rig = Rig::new(Profile::Claude);
    let set = set_of(&json!({ "Stop": [{ "hooks": [
        { "type": "command", "command": "touch ran", "if": "Bash" }]}]}));
    let report = rig.fire(&set, HookEvent::Stop, json!({ "stop_hook_active": false })).await;
    assert!(report.runs.is_empty() && !rig.path().join("ran").exists());
    assert!(set.diagnostics().iter().any(|found| found.message.contains("never runs")));
}
