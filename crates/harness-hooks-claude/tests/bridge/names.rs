//! Names and keys of tools, both ways.
use std::collections::BTreeMap;
use std::path::Path;

use harness_hooks_claude::Aliases;
use serde_json::{Value, json};

#[test]
fn names_go_both_ways() {
    let more = BTreeMap::from([("deploy".to_owned(), "Deploy".to_owned())]);
    let aliases = Aliases::new(more);
    assert_eq!(aliases.names("bash"), ["Bash", "bash"]);
    assert_eq!(aliases.names("subagent"), ["Agent", "Task", "subagent"]);
    assert_eq!(aliases.names("deploy"), ["Deploy", "deploy"]);
    assert_eq!(aliases.names("mcp__memory__read"), ["mcp__memory__read"]);
}

#[test]
fn keys_go_both_ways_and_paths_become_absolute() {
    let aliases = Aliases::default();
    let (cwd, home) = (Path::new("/w/sub"), Some(Path::new("/home/me")));
    let input = json!({ "command": "ls", "timeoutMs": 5, "workdir": "x" });
    let claude = aliases.to_claude("bash", &input, cwd, home);
    assert_eq!(claude, json!({ "command": "ls", "timeout": 5, "workdir": "x" }));
    let Value::Object(claude) = claude else { panic!() };
    assert_eq!(aliases.from_claude("bash", claude), input);
    for (given, absolute) in
        [("../a.txt", "/w/a.txt"), ("~/a", "/home/me/a"), ("/x/./y", "/x/y"), ("src/a", "/w/sub/src/a")]
    {
        let claude =
            aliases.to_claude("edit", &json!({ "file_path": given, "old_string": given }), cwd, home);
        assert_eq!((&claude["file_path"], &claude["old_string"]), (&json!(absolute), &json!(given)));
    }
}
