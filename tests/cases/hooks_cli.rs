//! K20: the line protocol through the built binary, and the exit codes that scripts rely on.
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use harness_testkit::{Finished, Input, Rig, processes, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig;

fn files(rig: &Rig, hooks: &[(&str, Value)]) {
    for (name, value) in hooks {
        let path = rig.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, value.to_string()).unwrap();
    }
}
fn says(text: &str) -> Value {
    json!([{ "hooks": [{ "type": "command", "command": format!("echo {text}") }] }])
}
fn hooks(rig: &Rig, args: &[&str]) -> Finished {
    rig.command(["hooks"].iter().chain(args)).run()
}
fn matched(text: &str, name: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
/// Durations differ from run to run.
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

/// Hooks of all kinds that need no network.
fn every_kind() -> Value {
    json!({ "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [
                { "type": "command", "command": "grep -q 'rm -rf' && { echo 'not here' >&2; exit 2; } || echo fine" },
                { "type": "command", "command": "exit 7", "if": "Bash(ls *)" }
            ]},
            { "matcher": "Edit|Write", "hooks": [{ "type": "prompt", "prompt": "May it? $ARGUMENTS" }]},
            { "matcher": "Task", "hooks": [
                { "type": "agent", "prompt": "look", "command": "echo \"$HOOK_PROMPT\" | head -n 1; grep -o '\"prompt\":\"look'" },
                { "type": "command", "command": "exit 9", "onError": "block" }
            ]}
        ],
        "PostToolUse": [{ "hooks": [{ "type": "command", "command": "echo after >&2; exit 2" }] }],
        "PostToolUseFailure": [{ "hooks": [{ "type": "command", "command": "echo failed" }] }],
        "tool:after": [{ "hooks": [{ "type": "command", "command": "echo always" }] }],
        "SessionStart": [{ "hooks": [{ "type": "command", "command": "basename \"$PWD\"" }] }],
        "Stop": [{ "hooks": [{ "type": "command", "command": "echo '{\"continue\":false,\"stopReason\":\"enough\"}'" }] }],
        "Notification": [{ "hooks": [
            { "type": "command", "command": "cp hooks.d/broken.json hooks.d/settings.json" }] }]
    }})
}

/// Every operation and every error, one transcript.
#[test]
fn k20_golden_transcript_of_the_line_protocol() {
    let rig = rig([harness_llm_mock::txt("```json\n{\"ok\": false, \"reason\": \"not on a Friday\"}\n```")]);
    let file = rig.file("hooks.d/settings.json", every_kind().to_string());
    rig.file(
        "hooks.d/broken.json",
        json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "telepathy" }] }] } }).to_string(),
    );
    std::fs::create_dir_all(rig.workspace().join("elsewhere")).unwrap();
    let bash = |command: &str| json!({ "tool_name": "Bash", "tool_input": { "command": command } });
    let dispatch = |event: &str, more: Value| {
        let mut request = json!({ "op": "dispatch", "event": event });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request.to_string()
    };
    let requests = [
        r#"{"op":"ping"}"#.to_owned(),
        "   ".to_owned(),
        dispatch("PreToolUse", json!({ "payload": bash("rm -rf /") })),
        dispatch("tool:before", json!({ "payload": bash("ls"), "subject": "Read" })),
        dispatch("PreToolUse", json!({ "payload": { "tool_name": "Write" } })),
        dispatch("PreToolUse", json!({ "payload": {}, "subject": "Task" })),
        dispatch("PostToolUse", json!({ "payload": bash("ls") })),
        dispatch("PostToolUseFailure", json!({ "payload": bash("ls") })),
        dispatch("tool:after", json!({ "payload": bash("ls") })),
        dispatch("session.created", json!({ "cwd": "elsewhere" })),
        dispatch("turn:stop", json!({})),
        dispatch("notice", json!({})),
        r#"{"op":"reload"}"#.to_owned(),
        dispatch("PreToolUse", json!({ "payload": bash("rm -rf /") })),
        "not json".to_owned(),
        "[1]".to_owned(),
        "{}".to_owned(),
        r#"{"op":5}"#.to_owned(),
        r#"{"op":"sing"}"#.to_owned(),
        r#"{"op":"dispatch"}"#.to_owned(),
        r#"{"op":"dispatch","event":"Teatime"}"#.to_owned(),
        r#"{"op":"dispatch","event":5}"#.to_owned(),
        r#"{"op":"dispatch","event":"Stop","payload":5}"#.to_owned(),
        r#"{"op":"dispatch","event":"Stop","subject":5}"#.to_owned(),
        r#"{"op":"dispatch","event":"Stop","cwd":5}"#.to_owned(),
        format!("\"{}\"", "x".repeat(16 * 1024 * 1024)),
        r#"{"op":"ping"}"#.to_owned(),
        r#"{"op":"bye"}"#.to_owned(),
        r#"{"op":"ping","note":"after the end"}"#.to_owned(),
    ];
    let mut lines: Vec<Vec<u8>> = requests.iter().map(|text| text.clone().into_bytes()).collect();
    lines.insert(16, b"\xff\xfe".to_vec());
    let input = rig.root().join("requests");
    std::fs::write(&input, lines.join(&b'\n')).unwrap();
    let url = rig.server().base_url();
    let args = [
        "hooks",
        "listen",
        "--config",
        file.to_str().unwrap(),
        "--llm-base-url",
        &url,
        "--llm-model",
        "small",
    ];
    let finished = rig.command(args).input(Input::Open(File::open(input).unwrap())).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let mut answers = finished.stdout.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        steady(&mut value);
        value
    });
    let mut transcript = String::new();
    for line in &lines {
        let shown: String = String::from_utf8_lossy(line).chars().take(160).collect();
        writeln!(transcript, "> {shown}").unwrap();
        if !shown.trim().is_empty()
            && let Some(answer) = answers.next()
        {
            writeln!(transcript, "< {answer}").unwrap();
        }
    }
    assert!(answers.next().is_none(), "one answer a request");
    let transcript = transcript.replace(&rig.root().display().to_string(), "…");
    matched(&transcript, "hooks-line-protocol");
    assert_eq!(rig.request(1)["model"], "small");
}

/// Files of all dialects in the order of the configuration; the project's only when it is trusted.
#[test]
fn k20_dump_merges_all_dialects_in_order() {
    let rig = rig([]);
    let claude = |text: &str| json!({ "hooks": { "Stop": says(text) } });
    files(
        &rig,
        &[
            ("home/.claude/settings.json", claude("user-claude")),
            ("home/.codex/hooks.json", claude("user-codex")),
            (
                "home/.config/opencode/opencode.json",
                json!({ "hooks": { "session.idle": says("user-opencode") } }),
            ),
            (
                "home/.config/hooks-adapter/hooks.json",
                json!({ "version": 1, "events": { "turn:stop": says("user-native") } }),
            ),
            ("ws/.claude/settings.json", claude("project-claude")),
            ("ws/.codex/hooks.json", claude("project-codex")),
            ("ws/opencode.json", json!({ "hooks": { "session.idle": says("project-opencode") } })),
            ("ws/.dsh-hooks.json", json!({ "events": { "turn:stop": says("project-native") } })),
            ("ws/.claude/settings.local.json", claude("local-claude")),
        ],
    );
    let dumped = |args: &[&str]| -> Vec<String> {
        let finished = hooks(&rig, args);
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        let dump: Value = serde_json::from_str(&finished.stdout).unwrap();
        let hooks = dump["hooks"].as_array().unwrap().iter();
        hooks.map(|hook| hook["handler"].as_str().unwrap().trim_start_matches("echo ").to_owned()).collect()
    };
    let user = ["user-claude", "user-codex", "user-opencode", "user-native"];
    let project = ["project-claude", "project-codex", "project-opencode", "project-native", "local-claude"];
    assert_eq!(dumped(&["dump"]), user, "the project is not trusted");
    assert_eq!(dumped(&["dump", "--trust-project-hooks"]), [&user[..], &project[..]].concat());
    let run = hooks(&rig, &["run", "--trust-project-hooks", "--event", "Stop", "--payload", "{}"]);
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()["runs"].as_array().unwrap().len(), 9);

    // The last file that says something about all hooks counts.
    files(&rig, &[("home/.codex/hooks.json", json!({ "disableAllHooks": true, "hooks": {} }))]);
    assert!(dumped(&["dump", "--trust-project-hooks"]).is_empty());
    files(&rig, &[("ws/opencode.json", json!({ "disableAllHooks": false }))]);
    assert_eq!(dumped(&["dump", "--trust-project-hooks"]).len(), 7);
}

#[test]
fn k20_variables_name_the_file_and_the_home() {
    let rig = rig([]);
    files(
        &rig,
        &[
            ("home/.claude/settings.json", json!({ "hooks": { "Stop": says("home") } })),
            ("other/.claude/settings.json", json!({ "hooks": { "Stop": says("other") } })),
            ("only/dsh-hooks.json", json!({ "events": { "turn:stop": says("only") } })),
        ],
    );
    let listed = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = rig.command(["hooks", "list"].iter().chain(args));
        for (name, place) in variables {
            command = command.env(name, rig.root().join(place));
        }
        command.run().stdout
    };
    let home = ("HOOKS_ADAPTER_HOME", "other");
    let config = ("HOOKS_ADAPTER_CONFIG", "only/dsh-hooks.json");
    assert!(listed(&[], &[]).contains("echo home"));
    assert!(listed(&[home], &[]).contains("echo other"));
    let only = listed(&[home, config], &[]);
    assert!(only.contains("turn:stop") && only.contains("echo only") && !only.contains("other"), "{only}");
    let flag = rig.home();
    assert!(listed(&[home], &["--home", flag.to_str().unwrap()]).contains("echo home"), "flags win");
}

/// 2 says that a hook refused, so nothing else may end with it.
#[test]
fn k20_bad_input_of_run_is_never_taken_for_a_refusal() {
    let rig = rig([]);
    for args in [
        &["run"] as &[&str],
        &["run", "--event", "Stop", "--no-such-flag"],
        &["run", "--event", "Stop", "--payload", "[]"],
        &["run", "--event", "Stop", "--payload", "{}", "--timeout", "-1"],
        &["run", "--event", "Teatime", "--payload", "{}"],
        &["run", "--event", "Stop", "--config", "absent.json", "--payload", "{}"],
    ] {
        let finished = hooks(&rig, args);
        assert_eq!(finished.code, Some(1), "{args:?}: {}", finished.stderr);
        assert!(finished.stdout.is_empty() && !finished.stderr.is_empty(), "{args:?}");
    }
    assert_eq!(hooks(&rig, &["list", "--no-such-flag"]).code, Some(2));
}

/// The mock server judges prompt hooks without a script.
#[test]
fn k20_the_mock_server_answers_prompt_hooks() {
    let rig = rig([]);
    let ask = |prompt: &str| json!([{ "hooks": [{ "type": "prompt", "prompt": prompt }] }]);
    let hooked = json!({ "hooks": { "PreToolUse": ask("please DENY it"), "Stop": ask("fine?") } });
    files(&rig, &[("home/.claude/settings.json", hooked)]);
    let server = rig.command(["mock-llm"]).start();
    let url = wait_until("the address", || server.stdout_line());
    let run = |event: &str| {
        hooks(
            &rig,
            &[
                "run",
                "--event",
                event,
                "--payload",
                "{}",
                "--llm-base-url",
                &url,
                "--llm-key-env",
                "OPENAI_API_KEY",
            ],
        )
    };
    let denied = run("PreToolUse");
    assert_eq!(denied.code, Some(2), "{}", denied.stderr);
    assert!(denied.stdout.contains("mock denied"), "{}", denied.stdout);
    let passed = run("Stop");
    assert_eq!(passed.code, Some(0), "{}", passed.stderr);
    assert!(passed.stderr.is_empty(), "{}", passed.stderr);
    rig.assert_no_key(&denied);
    server.signal(Signal::TERM);
    rig.assert_no_key(&server.wait());
}

/// The other end of a pipe that nobody closes before the test does.
fn asking(rig: &Rig, seconds: &str) -> (File, File) {
    let hang =
        json!([{ "hooks": [{ "type": "command", "command": format!("touch started; sleep {seconds}") }] }]);
    files(rig, &[("home/.claude/settings.json", json!({ "hooks": { "Stop": hang } }))]);
    let (requests, client) = std::io::pipe().unwrap();
    let mut client = File::from(OwnedFd::from(client));
    client.write_all(b"{\"op\":\"ping\"}\n{\"op\":\"dispatch\",\"event\":\"Stop\"}\n").unwrap();
    (File::from(OwnedFd::from(requests)), client)
}

#[test]
fn k20_a_client_that_goes_away_leaves_no_process() {
    let rig = rig([]);
    let (requests, client) = asking(&rig, "300.201");
    let mut server = Command::new(env!("CARGO_BIN_EXE_harness"))
        .args(["hooks", "listen"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", rig.home())
        .current_dir(rig.workspace())
        .stdin(requests)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the hook runs", || rig.workspace().join("started").exists().then_some(()));
    // Its requests stay open, as another process may hold them; nobody reads the responses any more.
    drop(server.stdout.take());
    let status = wait_until("the program ends", || server.try_wait().unwrap());
    assert_eq!(status.code(), Some(141));
    assert!(processes("sleep 300.201").is_empty());
    drop(client);
}

#[test]
fn k20_a_signal_ends_what_is_served() {
    let rig = rig([]);
    let (requests, client) = asking(&rig, "300.202");
    let server = rig.command(["hooks", "listen"]).input(Input::Open(requests)).start();
    wait_until("the hook runs", || rig.workspace().join("started").exists().then_some(()));
    server.signal(Signal::TERM);
    let finished = server.wait();
    assert_eq!(finished.code, Some(143), "{}", finished.stderr);
    assert_eq!(finished.stdout, "{\"ok\":true,\"pong\":true}\n");
    assert!(processes("sleep 300.202").is_empty());
    drop(client);
}

/// Requests that end are not a client that is gone: what was asked is answered.
#[test]
fn k20_the_end_of_the_requests_waits_for_the_answers() {
    let rig = rig([]);
    let slow = json!([{ "hooks": [{ "type": "command", "command": "while [ ! -e go ]; do sleep 0.01; done; echo '{\"systemMessage\":\"done\"}'" }] }]);
    files(&rig, &[("home/.claude/settings.json", json!({ "hooks": { "Stop": slow } }))]);
    let path = rig.file("requests", "{\"op\":\"dispatch\",\"event\":\"Stop\"}");
    let server = rig.command(["hooks", "listen"]).input(Input::Open(File::open(path).unwrap())).start();
    rig.file("go", "");
    let finished = server.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.contains("\"messages\":[\"done\"]"), "{}", finished.stdout);
}
