//! K18: which files count, trust, live reload, broken entries.
use harness_llm_mock::txt;
use serde_json::json;

use super::{done, hook, hooked, one_command, settings};
use crate::{call, rig};

#[test]
fn k18_a_broken_entry_is_told_of_and_the_rest_runs() {
    let hooks = json!({
        "PreToolUse": [
            { "matcher": "Bash(", "hooks": [{ "type": "command", "command": "exit 2" }] },
            { "matcher": "Bash", "hooks": [{ "type": "telepathy" }, { "type": "command", "command": "touch hooked" }] }
        ],
        "NoSuchEvent": hook("true"),
        "TeammateIdle": hook("true")
    });
    let rig = hooked(one_command("touch ran"), &hooks);
    let finished = rig.run("go");
    done(&finished);
    assert!(rig.workspace().join("hooked").exists() && rig.workspace().join("ran").exists());
    for told in [
        ".claude/settings.json: hooks[PreToolUse][0]: the matcher",
        "hooks[PreToolUse][1].hooks[0]: no handler is of type `telepathy`",
        "no event is called `NoSuchEvent`",
    ] {
        assert!(finished.stderr.contains(told), "{told}: {}", finished.stderr);
    }
    assert!(!finished.stderr.contains("TeammateIdle"), "a known event that never fires is no fault");
}

#[test]
fn k18_disabling_follows_the_strongest_file_and_spares_managed_hooks() {
    let managed = |rig: &harness_testkit::Rig| rig.root().join("managed");
    let run = |user: Option<bool>, local: Option<bool>, managed_off: Option<bool>| {
        let rig = rig(one_command("true"));
        let file = |mark: &str, off: Option<bool>| {
            let mut value = json!({ "hooks": { "PreToolUse": hook(&format!("touch {mark}")) } });
            if let Some(off) = off {
                value["disableAllHooks"] = off.into();
            }
            value
        };
        settings(&rig, &file("user", user));
        rig.file(".claude/settings.local.json", file("local", local).to_string());
        std::fs::create_dir_all(managed(&rig)).unwrap();
        std::fs::write(managed(&rig).join("managed-settings.json"), file("managed", managed_off).to_string())
            .unwrap();
        let finished = rig
            .run_with("go", [])
            .env("HARNESS_HOOKS_TRUST_PROJECT", "true")
            .env("HARNESS_HOOKS_MANAGED_FOLDER", managed(&rig))
            .run();
        done(&finished);
        ["user", "local", "managed"].map(|mark| rig.workspace().join(mark).exists())
    };
    assert_eq!(run(None, None, None), [true, true, true]);
    assert_eq!(run(Some(true), None, None), [false, false, true]);
    assert_eq!(run(Some(true), Some(false), None), [true, true, true]);
    assert_eq!(run(None, None, Some(true)), [false, false, false]);
}

#[test]
fn hooks_of_a_project_run_once_it_is_trusted_as_it_is() {
    let replies = (0..4).flat_map(|_| one_command("true"));
    let rig = rig(replies);
    let write = |mark: &str| {
        rig.file(
            ".claude/settings.json",
            json!({ "hooks": { "PreToolUse": hook(&format!("touch {mark}")) }, "model": mark }).to_string(),
        )
    };
    write("one");
    let finished = rig.run("go");
    done(&finished);
    assert!(!rig.workspace().join("one").exists());
    assert!(
        finished.stderr.contains("this project is not trusted")
            && finished.stderr.contains("harness config trust"),
        "{}",
        finished.stderr
    );
    let trusted = rig.command(["config", "trust"]).run();
    assert_eq!(trusted.code, Some(0), "{}", trusted.stderr);
    done(&rig.run("go"));
    assert!(rig.workspace().join("one").exists());
    // Another setting of the file may change; a hook may not.
    let text = String::from_utf8(rig.bytes(".claude/settings.json")).unwrap();
    rig.file(".claude/settings.json", text.replace("\"model\":\"one\"", "\"model\":\"other\""));
    std::fs::remove_file(rig.workspace().join("one")).unwrap();
    done(&rig.run("go"));
    assert!(rig.workspace().join("one").exists());
    write("two");
    done(&rig.run("go"));
    assert!(!rig.workspace().join("two").exists());
}

#[test]
fn a_changed_file_counts_from_the_next_event_on() {
    let deny = json!({ "hooks": { "PreToolUse": hook("echo changed >&2; exit 2") } }).to_string();
    let rig = hooked(
        [
            call(
                "c1",
                "bash",
                json!({ "command": format!("cat > ~/.claude/settings.json <<'X'\n{deny}\nX") }),
            ),
            call("c2", "bash", json!({ "command": "touch ran" })),
            txt("done"),
        ],
        &json!({}),
    );
    done(&rig.run("go"));
    assert!(rig.tool_result(3).contains("changed") && !rig.workspace().join("ran").exists());
}

#[test]
fn plugins_and_named_files_bring_hooks() {
    let rig = rig(one_command("true"));
    let plugin = rig.root().join("plugins/my plugin");
    std::fs::create_dir_all(plugin.join("hooks")).unwrap();
    std::fs::write(plugin.join("hook.sh"), "echo \"$CLAUDE_PLUGIN_ROOT\" > plugin.txt\n").unwrap();
    let hooks = json!({ "description": "x", "__generated": {}, "hooks": { "PreToolUse": hook("bash \"${CLAUDE_PLUGIN_ROOT}/hook.sh\"") } });
    std::fs::write(plugin.join("hooks/hooks.json"), hooks.to_string()).unwrap();
    let named = rig.root().join("named.json");
    std::fs::write(&named, json!({ "hooks": { "PreToolUse": hook("touch named") } }).to_string()).unwrap();
    let config = format!("[hooks]\nplugins = [{plugin:?}]\nfiles = [{named:?}, \"absent.json\"]\n");
    let folder = rig.home().join(".config/harness");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let finished = rig.run("go");
    done(&finished);
    assert_eq!(String::from_utf8(rig.bytes("plugin.txt")).unwrap().trim(), plugin.display().to_string());
    assert!(rig.workspace().join("named").exists());
    assert!(finished.stderr.contains("absent.json: there is no such file"), "{}", finished.stderr);
}

#[test]
fn flags_name_a_file_and_trust_a_project_for_one_run() {
    let rig = rig(one_command("true"));
    rig.file("named.json", json!({ "hooks": { "PreToolUse": hook("touch named") } }).to_string());
    rig.file(
        ".claude/settings.json",
        json!({ "hooks": { "PreToolUse": hook("touch project") } }).to_string(),
    );
    done(&rig.run_with("go", ["--settings", "named.json", "--trust-project-hooks"]).run());
    assert!(rig.workspace().join("named").exists() && rig.workspace().join("project").exists());
}

#[test]
fn hooks_can_be_turned_off() {
    let rig = hooked(one_command("touch ran"), &json!({ "PreToolUse": hook("exit 2") }));
    done(&rig.run_with("go", []).env("HARNESS_HOOKS_ENABLED", "false").run());
    assert!(rig.workspace().join("ran").exists());
}
