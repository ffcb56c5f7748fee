//! `harness demo`, `sessions`, `config` and `mock-llm` through the binary.
use harness_llm_mock::txt;
use harness_session::Decoder;
use harness_testkit::{story, wait_until};

use crate::rig;

#[test]
fn the_demo_mends_its_test_with_an_empty_home() {
    let rig = rig([]);
    let folder = rig.root().join("demo");
    // Neither git nor bash nor anything else: sh will do.
    let bin = rig.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bin.join("sh")).unwrap();
    let finished = rig
        .command(["demo", "--dir", folder.to_str().unwrap()])
        .env("HOME", "")
        .env("PATH", &bin)
        .env_remove("OPENAI_API_KEY")
        .run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("SCRIPTED"), "it says so plainly");
    let test = std::process::Command::new("/bin/sh")
        .arg("test.sh")
        .current_dir(folder.join("project"))
        .output()
        .unwrap();
    assert!(test.status.success(), "the failing test passes: {test:?}");
    let session = std::fs::read_dir(folder.join("sessions")).unwrap().next().unwrap().unwrap().path();
    let log = std::fs::read_to_string(session.join("log.jsonl")).unwrap();
    let mut decoder = Decoder::default();
    let events: Vec<_> = log.lines().skip(1).map(|line| decoder.decode(line).unwrap()).collect();
    let story = story(&events);
    for part in ["tool/call bash", "tool/call read", "tool/call edit", "turn/end 1 completed"] {
        assert!(story.contains(part), "the log tells the whole story: {part} is not in\n{story}");
    }
    assert!(log.contains("FAIL total 200 10: expected 1800, got 2000"), "what the test said is in the log");
}

#[test]
fn sessions_are_listed_shown_and_continued() {
    let rig = rig([txt("one"), txt("two")]);
    assert_eq!(rig.run("first question").code, Some(0));
    let id = rig.session();
    let listed = rig.command(["sessions", "list"]).run();
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(listed.stdout.contains(&id) && listed.stdout.contains("first question"), "{}", listed.stdout);
    let json = rig.command(["sessions", "list", "--json"]).run();
    let line: serde_json::Value = serde_json::from_str(json.stdout.trim()).unwrap();
    assert_eq!(line["id"], id.as_str());
    assert_eq!(rig.run_with("second question", ["--continue"]).run().code, Some(0));
    let shown = rig.command(["sessions", "show", &id]).run();
    for part in ["you: first question", "assistant: one", "you: second question", "assistant: two"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let json = rig.command(["sessions", "show", &id, "--json"]).run();
    assert_eq!(json.stdout.lines().count(), rig.events().len());
}

#[test]
fn the_configuration_is_shown_with_its_sources() {
    let rig = rig([]);
    let shown = rig
        .command(["config", "show"])
        .env("HARNESS_MODEL_NAME", "big")
        .env("HARNESS_AGENT_STEERING", "one-at-a-time")
        .run();
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown.stdout.contains("model.name = \"big\"  # environment HARNESS_MODEL_NAME"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains("agent.max_steps = 200  # default"));
    assert!(shown.stdout.contains("agent.steering = \"one-at-a-time\"  # environment"), "{}", shown.stdout);
    assert!(shown.stdout.contains("agent.followups = \"one-at-a-time\"  # default"));
}

#[test]
fn the_mock_server_serves_a_script_and_records_requests() {
    let rig = rig([]);
    let script = rig.file("script.json", r#"{"replies":[{"steps":[{"text":["scripted"]}]}]}"#);
    let record = rig.root().join("record");
    let started = rig
        .command(["mock-llm", "--script", script.to_str().unwrap(), "--record", record.to_str().unwrap()])
        .start();
    let url = wait_until("the server says its address", || started.stdout_line());
    let finished = rig.command(["run", "hi", "--base-url", &url, "--model", "m"]).run();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "scripted\n"), "{}", finished.stderr);
    wait_until("the request is recorded", || record.join("Q1.json").exists().then_some(()));
    started.signal(rustix::process::Signal::INT);
    assert_eq!(started.wait().code, Some(130));
}
