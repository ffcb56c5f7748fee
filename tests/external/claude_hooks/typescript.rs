//! A6 and A7: packages of the Node index.
use harness_llm_mock::tc;
use serde_json::json;

use super::{all_text, bash, done, last, node_modules, on, run, settings, world};
use crate::wanted;

#[test]
fn a06_a_guard_that_says_it_twice_denies_once() {
    if !wanted("it installs npm block-no-verify") {
        return;
    }
    let modules = node_modules();
    let command = format!("node {}/.bin/block-no-verify", modules.display());
    let mut hooks = on("PreToolUse", "Bash", &command);
    let both = hooks["PreToolUse"].as_array_mut().unwrap();
    both.push(on("PreToolUse", "mcp__github__.*", &command)["PreToolUse"][0].clone());
    let commit = |flag: &str| {
        format!(
            "git -c user.name=a -c user.email=a@b.c commit --allow-empty {flag} -m x && git log --oneline | wc -l"
        )
    };
    let rig = world(
        [
            bash("c1", &commit("--no-verify")),
            bash("c2", &commit("")),
            tc(
                "c3",
                "mcp__github__push_files",
                json!({ "noVerify": true, "message": "git commit --no-verify" }).to_string(),
            ),
            last(),
        ],
        &hooks,
    );
    done(&run(&rig, "go", &modules));
    let denied = rig.tool_result(2);
    assert!(denied.contains("no-verify"), "{denied}");
    assert_eq!(denied.matches("--no-verify").count(), 1, "one reason: {denied}");
    assert!(rig.tool_result(4).contains("bypasses local git hooks"), "{}", rig.tool_result(4));
    assert!(rig.tool_result(3).trim_end().ends_with('2'), "{}", rig.tool_result(3));
}

#[test]
fn a07_a_typed_library_gives_context_blocks_and_rewrites() {
    if !wanted("it installs npm cc-hooks-ts") {
        return;
    }
    let modules = node_modules();
    let read = tc("c1", "read", json!({ "file_path": ".env" }).to_string());
    let rig = world([read, bash("c2", "npm --version"), last()], &json!({}));
    let library = modules.join("cc-hooks-ts/dist/index.mjs");
    let text = format!(
        r#"
import {{ defineHook, runHook }} from {library:?};
const hook = defineHook({{
  trigger: {{ SessionStart: true, PreToolUse: {{ Read: true, Bash: true }} }},
  run: (context) => {{
    const input = context.input;
    if (input.hook_event_name === "SessionStart") {{
      return context.success({{ additionalClaudeContext: "use pnpm here" }});
    }}
    if (input.tool_name === "Read" && input.tool_input.file_path.includes(".env")) {{
      return context.blockingError("Cannot read environment files");
    }}
    if (input.tool_name === "Bash" && input.tool_input.command.startsWith("npm ")) {{
      const command = input.tool_input.command.replace(/^npm /, "echo pnpm ");
      return context.json({{ event: "PreToolUse", output: {{ hookSpecificOutput: {{
        hookEventName: "PreToolUse", permissionDecision: "allow", updatedInput: {{ ...input.tool_input, command }} }} }} }});
    }}
    return context.success();
  }},
}});
await runHook(hook);
"#
    );
    let path = rig.root().join("hook.mjs");
    std::fs::write(&path, text).unwrap();
    let command = format!("node {}", path.display());
    let mut hooks = on("PreToolUse", "Read|Bash", &command);
    hooks["SessionStart"] = on("SessionStart", "", &command)["SessionStart"].clone();
    settings(&rig, &hooks);
    done(&run(&rig, "go", &modules));
    assert!(all_text(&rig, 1).contains("use pnpm here"), "{}", all_text(&rig, 1));
    assert!(rig.tool_result(2).contains("Cannot read environment files"), "{}", rig.tool_result(2));
    assert_eq!(rig.tool_result(3), "pnpm --version\n");
    assert!(all_text(&rig, 3).contains("echo pnpm --version"), "the history has what ran");
}
