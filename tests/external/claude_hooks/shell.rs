//! A10 to A12: shell scripts in the style of published ones, with jq.
use std::path::Path;

use harness_llm_mock::{tc, txt};
use serde_json::{Value, json};

use super::{all_text, bash, done, last, on, run, world, write};
use crate::wanted;

fn with(events: &[(&str, &str, &str)]) -> Value {
    let mut hooks = json!({});
    for (event, matcher, command) in events {
        hooks[event] = on(event, matcher, command)[event].clone();
    }
    hooks
}

#[test]
fn a10_a_loader_exports_for_later_commands() {
    if !wanted("it needs bash") {
        return;
    }
    let loader = r#"set -euo pipefail; cd "$CLAUDE_PROJECT_DIR"; echo "Project: $(basename "$PWD")"; [ -f package.json ] && echo "Node.js project"; echo 'export PROJECT_TYPE=nodejs' >> "$CLAUDE_ENV_FILE""#;
    let rig = world([bash("c1", "echo $PROJECT_TYPE"), last()], &with(&[("SessionStart", "", loader)]));
    done(&run(&rig, "go", Path::new("/usr/bin")));
    assert!(all_text(&rig, 1).contains("Node.js project"));
    assert_eq!(rig.tool_result(2), "nodejs\n");
}

#[test]
fn a11_documented_one_liners_work() {
    if !wanted("it needs jq") {
        return;
    }
    let format = r##"jq -r '.tool_response.filePath // .tool_input.file_path' | xargs -I{} sh -c 'echo "# formatted" >> "{}"'"##;
    let tf = r#"X=a.tf; if [[ "$X" == *.tf ]]; then echo tf > tf.txt; fi"#;
    let rig = world(
        [
            write("c1", "b.py", "one\n"),
            tc(
                "c2",
                "edit",
                json!({ "file_path": "b.py", "old_string": "one", "new_string": "two" }).to_string(),
            ),
            tc("c3", "read", json!({ "file_path": "b.py" }).to_string()),
            tc(
                "c4",
                "edit",
                json!({ "file_path": "b.py", "old_string": "one", "new_string": "two" }).to_string(),
            ),
            bash("c5", "echo hi"),
            last(),
        ],
        &with(&[
            ("PreToolUse", "Bash", "jq -r '.tool_input.command' >> log.txt"),
            ("PostToolUse", "Edit|Write", format),
            ("SessionStart", "compact", "echo 'Reminder: use bun'"),
            ("Stop", "", tf),
        ]),
    );
    done(&run(&rig, "go", Path::new("/usr/bin")));
    assert_eq!(rig.bytes("log.txt"), b"echo hi\n");
    assert_eq!(rig.bytes("tf.txt"), b"tf\n");
    let text = String::from_utf8(rig.bytes("b.py")).unwrap();
    assert!(text.starts_with("two\n# formatted\n"), "{text}");
    assert!(!all_text(&rig, 1).contains("Reminder"), "only after a compaction");
}

#[test]
fn a12_a_loop_runs_until_its_marker() {
    if !wanted("it needs jq") {
        return;
    }
    let hook = r#"
set -euo pipefail
input=$(cat)
state=.claude/loop.state
[ -f "$state" ] || exit 0
transcript=$(jq -r '.transcript_path' <<< "$input")
if ! grep -q '"role":"assistant"' "$transcript"; then rm "$state"; echo 'no assistant messages' >&2; exit 0; fi
last=$(grep '"role":"assistant"' "$transcript" | tail -1)
text=$(jq -r '.message.content | map(select(.type == "text")) | map(.text) | join("\n")' <<< "$last")
if [[ "$text" == *"<promise>DONE</promise>"* ]]; then rm "$state"; exit 0; fi
n=$(( $(cat "$state") + 1 )); echo "$n" > "$state"
jq -n --arg reason "keep going" --arg message "round $n" '{decision: "block", reason: $reason, systemMessage: $message}'
"#;
    let rig = world(
        [txt("working"), txt("still"), txt("<promise>DONE</promise>"), txt("never")],
        &with(&[("Stop", "", hook)]),
    );
    rig.file(".claude/loop.state", "1");
    let finished = run(&rig, "go", Path::new("/usr/bin"));
    done(&finished);
    assert_eq!(rig.server().requests().len(), 3, "{}", finished.stderr);
    assert!(finished.stderr.contains("round 3"), "{}", finished.stderr);
    assert!(!rig.workspace().join(".claude/loop.state").exists());
}
