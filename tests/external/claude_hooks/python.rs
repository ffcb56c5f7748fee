//! A1 to A5, A8 and A9: packages of the Python index.
use harness_llm_mock::{tc, txt};
use serde_json::json;

use super::{all_text, bash, done, last, on, run, script, settings, venv, world, write};
use crate::wanted;

const GUARD: &str = r#"
from cchooks import create_context
c = create_context()
if c.tool_name == "Bash" and "rm -rf" in c.tool_input.get("command", ""):
    c.output.deny(reason="no recursive removal", system_message="a guard stepped in")
elif c.tool_name == "Write" and c.tool_input.get("file_path", "").endswith(".env"):
    c.output.exit_block("env files are protected")
else:
    c.output.exit_success()
"#;

#[test]
fn a01_a_guard_on_a_library_denies_in_both_ways() {
    if !wanted("it installs PyPI cchooks") {
        return;
    }
    let bin = venv();
    let rig = world(
        [bash("c1", "rm -rf src"), write("c2", ".env", "x"), bash("c3", "echo fine"), last()],
        &json!({}),
    );
    let command = script(&rig, &bin.join("python"), "guard.py", GUARD);
    settings(&rig, &on("PreToolUse", "Bash|Write", &command));
    let finished = run(&rig, "go", &bin);
    done(&finished);
    assert!(rig.tool_result(2).contains("no recursive removal") && rig.workspace().join("src/a.py").exists());
    assert!(finished.stderr.contains("a guard stepped in"), "{}", finished.stderr);
    assert!(rig.tool_result(3).contains("env files are protected"), "{}", rig.tool_result(3));
    assert_eq!(rig.bytes(".env"), b"SECRET=1\n");
    assert_eq!(rig.tool_result(4), "fine\n");
}

#[test]
fn a02_a_stop_hook_goes_on_once() {
    if !wanted("it installs PyPI cchooks") {
        return;
    }
    let bin = venv();
    let rig = world([txt("one"), txt("two")], &json!({}));
    let text = "from cchooks import create_context\nc = create_context()\n\
                c.output.allow() if c.stop_hook_active else c.output.prevent('check once more')\n";
    let command = script(&rig, &bin.join("python"), "stop.py", text);
    settings(&rig, &on("Stop", "", &command));
    done(&run(&rig, "go", &bin));
    assert_eq!(rig.server().requests().len(), 2);
    assert!(all_text(&rig, 2).contains("check once more"));
}

#[test]
fn a03_prompt_session_and_result_hooks_on_a_library() {
    if !wanted("it installs PyPI cchooks") {
        return;
    }
    let bin = venv();
    let text = r#"
from cchooks import create_context
c = create_context()
e = c.hook_event_name
if e == "SessionStart":
    c.output.add_context("the project is a teapot")
elif e == "UserPromptSubmit":
    c.output.block(reason="no passwords") if "password" in c.prompt else c.output.add_context("be brief")
else:
    assert c.tool_response["filePath"].startswith("/"), c.tool_response
    c.output.challenge("add a header")
"#;
    let rig = world([write("c1", "b.txt", "x"), last()], &json!({}));
    let command = script(&rig, &bin.join("python"), "all.py", text);
    let mut hooks = on("SessionStart", "", &command);
    for (event, matcher) in [("UserPromptSubmit", ""), ("PostToolUse", "Write")] {
        hooks[event] = on(event, matcher, &command)[event].clone();
    }
    settings(&rig, &hooks);
    done(&run(&rig, "hello", &bin));
    let first = all_text(&rig, 1);
    assert!(first.contains("the project is a teapot") && first.contains("be brief"), "{first}");
    let result = rig.tool_result(2);
    assert!(result.contains("created b.txt") && result.contains("add a header"), "{result}");
    let blocked = run(&rig, "my password is x", &bin);
    assert_eq!(blocked.code, Some(3), "{}", blocked.stderr);
    assert_eq!(rig.server().requests().len(), 2, "the prompt went nowhere");
}

#[test]
fn a04_a_linter_tells_what_it_found() {
    if !wanted("it installs PyPI hokum") {
        return;
    }
    let bin = venv();
    let hokum =
        |more: &str| format!("{}/hokum --field tool_input.file_path --only '*.py' {more}", bin.display());
    let compile = format!("-- {}/python -m py_compile", bin.display());
    for (more, content, expected) in [
        (compile.clone(), "def f(:\n", Some("SyntaxError")),
        (compile.clone(), "x = 1\n", None),
        (format!("--advisory {compile}"), "def f(:\n", Some("SyntaxError")),
        ("-- no-such-linter".to_owned(), "x = 1\n", Some("isn't installed")),
    ] {
        let rig = world(
            [write("c1", "src/b.py", content), last()],
            &on("PostToolUse", "Edit|Write", &hokum(&more)),
        );
        done(&run(&rig, "go", &bin));
        let text = all_text(&rig, 2);
        match expected {
            Some(expected) => assert!(text.contains(expected), "{more}: {text}"),
            None => assert!(!text.contains("hook"), "{more}: {text}"),
        }
    }
}

#[test]
fn a05_rules_on_commands_allow_ask_or_say_nothing() {
    if !wanted("it installs PyPI bashgate") {
        return;
    }
    let bin = venv();
    let rig = world(
        [bash("c1", "git status"), bash("c2", "cat /etc/shadow"), bash("c3", "touch other"), last()],
        &json!({}),
    );
    // The package writes the settings itself.
    let mut install = std::process::Command::new(bin.join("bashgate"));
    crate::succeed(install.arg("install").env("HOME", rig.home()));
    done(&run(&rig, "go", &bin));
    assert!(rig.tool_result(2).contains("branch"), "{}", rig.tool_result(2));
    let asked = rig.tool_result(3);
    assert!(asked.contains("needs approval") && asked.contains("outside"), "{asked}");
    assert!(rig.workspace().join("other").exists(), "what it does not know goes on");
}

#[test]
fn a08_a_path_guard_sees_absolute_paths() {
    if !wanted("it installs PyPI claude-hook-utils") {
        return;
    }
    let bin = venv();
    let text = r##"
from claude_hook_utils import HookHandler, PreToolUseResponse
class Guard(HookHandler):
    def pre_tool_use(self, input):
        if not input.file_path_matches("**/app/Data/**/*.php"):
            return None
        if input.content and "#[TypeScript()]" not in input.content:
            return PreToolUseResponse.deny("the attribute is missing")
        return PreToolUseResponse.allow()
Guard().run()
"##;
    let rig = world(
        [write("c1", "app/Data/sub/User.php", "<?php"), write("c2", "src/a.txt", "x"), last()],
        &json!({}),
    );
    let command = script(&rig, &bin.join("python"), "paths.py", text);
    settings(&rig, &on("PreToolUse", "Write|Edit", &command));
    done(&run(&rig, "go", &bin));
    assert!(rig.tool_result(2).contains("the attribute is missing"), "{}", rig.tool_result(2));
    assert!(
        !rig.workspace().join("app/Data/sub/User.php").exists() && rig.workspace().join("src/a.txt").exists()
    );
}

#[test]
fn a09_a_gate_finds_invisible_characters() {
    if !wanted("it installs PyPI agent-write-gate") {
        return;
    }
    let bin = venv();
    let hooks = on("PreToolUse", "Write|Edit", &format!("{}/agentgate hook --stdin", bin.display()));
    let bidi =
        tc("c1", "write", json!({ "file_path": "b.py", "content": "x = 1 # \u{202e}y\n" }).to_string());
    let rig = world([bidi, write("c2", "c.py", "x = 1\n"), last()], &hooks);
    done(&run(&rig, "go", &bin));
    assert!(!rig.workspace().join("b.py").exists() && rig.workspace().join("c.py").exists());
    assert!(rig.tool_result(2).contains("b.py"), "{}", rig.tool_result(2));
}
