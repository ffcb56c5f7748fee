//! A1 to A12: hooks that others wrote, with the matcher and command that they document, around our own tool calls.
mod python;
mod shell;
mod typescript;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use harness_llm_mock::{Reply, tc, txt};
use harness_testkit::{Finished, Rig};
use serde_json::{Value, json};

use crate::{cache, succeed};

const PYTHON: [&str; 5] = [
    "cchooks==0.1.5",
    "hokum==0.5",
    "bashgate==0.2.0",
    "agent-write-gate==0.1.0",
    "claude-hook-utils==0.4.0",
];
const NODE: [&str; 2] = ["block-no-verify@1.3.0", "cc-hooks-ts@2.1.251"];

/// Installing is for one at a time.
static INSTALLING: Mutex<()> = Mutex::new(());

/// The folder with the programs of a virtual environment that has the packages.
fn venv() -> PathBuf {
    let _one = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let venv = cache().join("hooks-venv");
    let ready = venv.join("ready");
    if !ready.exists() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv));
        succeed(Command::new(venv.join("bin/pip")).args(["install", "--quiet"]).args(PYTHON));
        std::fs::write(ready, "").unwrap();
    }
    venv.join("bin")
}
/// The folder of installed Node packages.
fn node_modules() -> PathBuf {
    let _one = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = cache().join("hooks-npm");
    if !folder.join("ready").exists() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("package.json"), "{}").unwrap();
        let install = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
        succeed(Command::new("npm").args(install).args(NODE).current_dir(&folder));
        std::fs::write(folder.join("ready"), "").unwrap();
    }
    folder.join("node_modules")
}

/// A git work tree with a few files, whose person has these settings.
fn world(replies: impl IntoIterator<Item = Reply>, hooks: &Value) -> Rig {
    let rig = Rig::new(env!("CARGO_BIN_EXE_harness"), replies);
    for (name, content) in [("src/a.py", "print(1)\n"), ("package.json", "{}\n"), (".env", "SECRET=1\n")] {
        rig.file(name, content);
    }
    let git = |args: &[&str]| {
        succeed(
            Command::new("git")
                .args(["-c", "user.name=me", "-c", "user.email=me@example.org"])
                .args(args)
                .current_dir(rig.workspace()),
        )
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    std::fs::create_dir_all(rig.home().join(".claude")).unwrap();
    std::fs::write(rig.home().join(".claude/settings.json"), json!({ "hooks": hooks }).to_string()).unwrap();
    rig
}
/// Runs a task with this folder's programs on the path.
fn run(rig: &Rig, task: &str, programs: &Path) -> Finished {
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let finished = rig.run_with(task, []).env("PATH", path).run();
    assert!(!finished.stderr.contains("failed:"), "a hook failed: {}", finished.stderr);
    finished
}
fn done(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}
fn bash(id: &str, command: &str) -> Reply {
    tc(id, "bash", json!({ "command": command }).to_string())
}
fn write(id: &str, path: &str, content: &str) -> Reply {
    tc(id, "write", json!({ "file_path": path, "content": content }).to_string())
}
fn on(event: &str, matcher: &str, command: &str) -> Value {
    json!({ event: [{ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] }] })
}
/// A script beside the world, as a command of this interpreter.
fn script(rig: &Rig, interpreter: &Path, name: &str, text: &str) -> String {
    let path = rig.root().join(name);
    std::fs::write(&path, text).unwrap();
    format!("{} {}", interpreter.display(), path.display())
}
fn settings(rig: &Rig, hooks: &Value) {
    std::fs::write(rig.home().join(".claude/settings.json"), json!({ "hooks": hooks }).to_string()).unwrap();
}
fn all_text(rig: &Rig, n: usize) -> String {
    rig.request(n)["messages"].to_string()
}
fn last() -> Reply {
    txt("done")
}
