//! The record drives the loop again, and the same log comes out.
use harness_llm_mock::{Reply, ToolCall, txt};
use harness_testkit::{Finished, Rig, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{call, rig};

fn replayed(rig: &Rig) -> Finished {
    let requests = rig.server().requests().len();
    let finished = rig.command(["sessions", "replay", &rig.session(), "--json"]).run();
    assert_eq!(rig.server().requests().len(), requests, "a model was asked");
    finished
}
fn same(rig: &Rig) -> Value {
    let log = std::fs::read(rig.log_file()).unwrap();
    let finished = replayed(rig);
    assert_eq!(finished.code, Some(0), "{}{}\n{}", finished.stdout, finished.stderr, rig.story());
    assert_eq!(std::fs::read(rig.log_file()).unwrap(), log, "the record was touched");
    serde_json::from_str(&finished.stdout).unwrap()
}

#[test]
fn turns_with_tools_are_replayed_without_their_effects() {
    let two = Reply::new()
        .call(ToolCall::new("bash", r#"{"command":"echo x >> effects"}"#).id("a"))
        .call(ToolCall::new("read", r#"{"file_path":"f"}"#).id("b"));
    let rig = rig([
        two,
        txt("done"),
        call("c", "bash", json!({ "command": "exit 3" })),
        call("d", "nonsense", json!({})),
        call("e", "read", json!({ "file_path": 7 })),
        txt("again"),
    ]);
    rig.file("f", "text\n");
    assert_eq!(rig.run("go").code, Some(0));
    assert_eq!(rig.resume("more").code, Some(0));
    let effects = rig.bytes("effects");
    let report = same(&rig);
    assert_eq!((&report["turns"], &report["requests"]), (&json!(2), &json!(6)));
    assert_eq!(rig.bytes("effects"), effects, "a tool ran");
}

#[test]
fn cut_failed_and_denied_answers_are_replayed() {
    let rig = rig([
        Reply::new().pieces(["only half"]).finish("length"),
        call("c", "bash", json!({ "command": "rm -rf /" })),
        txt("well"),
        Reply::error(400, "no such thing"),
    ]);
    assert_eq!(rig.run("one").code, Some(3));
    assert_eq!(rig.run_with("two", ["--continue", "--deny", "bash(rm *)"]).run().code, Some(0));
    assert_eq!(rig.resume("three").code, Some(1));
    let report = same(&rig);
    assert_eq!(report["turns"], 3, "{report}");
}

#[test]
fn a_cancelled_and_a_killed_turn_are_replayed() {
    let rig = rig([
        Reply::new().pieces(["half "]).gate("never"),
        call("c", "bash", json!({ "command": "touch started; sleep 3051" })),
        txt("at last"),
    ]);
    let started = rig.run_with("go", []).start();
    rig.block_on(rig.server().wait_for_gate("never"));
    started.signal(Signal::INT);
    assert_eq!(started.wait().code, Some(130));
    let started = rig.run_with("next", ["--continue"]).start();
    wait_until("the tool runs", || rig.workspace().join("started").exists().then_some(()));
    started.kill();
    assert_eq!(rig.resume("third").code, Some(0));
    for pid in harness_testkit::processes("sleep 3051") {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, Signal::KILL).unwrap();
    }
    same(&rig);
}

/// A record that the loop would not have made is told, with its place.
#[test]
fn a_changed_record_is_told() {
    let rig = rig([call("c1", "bash", json!({ "command": "echo hi" })), txt("done")]);
    assert_eq!(rig.run("go").code, Some(0));
    let log = std::fs::read_to_string(rig.log_file()).unwrap();
    let changed = log.replace("{\\\"command\\\":\\\"echo hi\\\"}\"}", "{\\\"command\\\":\\\"echo ho\\\"}\"}");
    assert_ne!(changed, log, "the call's arguments are in the log");
    std::fs::write(rig.log_file(), changed).unwrap();
    let finished = replayed(&rig);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert!(report["difference"]["recorded"].as_str().unwrap().contains("echo ho"), "{report}");
}
