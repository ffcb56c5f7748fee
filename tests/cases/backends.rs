//! Sessions in a database, and from one backend into the other.
use std::collections::BTreeSet;

use harness_llm_mock::{Reply, txt};
use harness_testkit::{Finished, Rig, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{call, rig};

const BACKEND: &str = "HARNESS_SESSION_BACKEND";

fn sqlite(rig: &Rig, task: &str, args: &[&str]) -> Finished {
    rig.run_with(task, args.iter().copied()).env(BACKEND, "sqlite").run()
}
fn command(rig: &Rig, args: &[&str]) -> Finished {
    rig.command(args).env(BACKEND, "sqlite").run()
}
fn listed(rig: &Rig) -> Vec<Value> {
    let listed = command(rig, &["sessions", "list", "--json"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
fn shown(rig: &Rig, backend: &str, id: &str) -> String {
    let shown = rig.command(["sessions", "show", id, "--json"]).env(BACKEND, backend).run();
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    shown.stdout
}

#[test]
fn a_session_in_a_database_is_run_resumed_and_shown() {
    let rig = rig([call("c1", "bash", json!({ "command": "echo hi" })), txt("done"), txt("again")]);
    assert_eq!(sqlite(&rig, "first words", &[]).code, Some(0));
    assert_eq!(sqlite(&rig, "more", &["--continue"]).code, Some(0));
    let [session] = &listed(&rig)[..] else { panic!("one session expected") };
    assert_eq!((&session["title"], &session["turns"]), (&json!("first words"), &json!(2)));
    let id = session["id"].as_str().unwrap();
    assert!(command(&rig, &["sessions", "show", id]).stdout.contains("again"));
    let checked = command(&rig, &["sessions", "check", id]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    assert!(rig.session_ids().is_empty(), "no text file was made");
    assert_eq!(
        rig.request(3)["messages"].as_array().unwrap().len(),
        rig.request(2)["messages"].as_array().unwrap().len() + 2
    );
    assert_eq!(command(&rig, &["sessions", "rm", id]).code, Some(0));
    assert!(listed(&rig).is_empty());
}

/// H09, H11: killed in a tool call, and two at once.
#[test]
fn a_killed_owner_of_a_row_leaves_nothing_and_a_live_one_is_named() {
    let rig = rig([
        call("c1", "bash", json!({ "command": "touch started; sleep 3041" })),
        Reply::new().pieces(["half"]).gate("go on"),
        txt("third"),
    ]);
    let started = rig.run_with("go", []).env(BACKEND, "sqlite").start();
    wait_until("the tool runs", || rig.workspace().join("started").exists().then_some(()));
    started.kill();
    let id = listed(&rig)[0]["id"].as_str().unwrap().to_owned();

    let second = rig.run_with("next", ["--resume", &id]).env(BACKEND, "sqlite").start();
    rig.block_on(rig.server().wait_for_gate("go on"));
    assert_eq!(rig.tool_results(2).len(), 1, "one call, one answer");
    let refused = sqlite(&rig, "too", &["--resume", &id]);
    assert_eq!(refused.code, Some(1));
    let owner = format!("in use by pid {}", second.pid());
    assert!(refused.stderr.contains(&owner), "{}", refused.stderr);
    let pid = second.pid();
    second.kill();
    assert!(pid > 0);

    assert_eq!(sqlite(&rig, "third", &["--resume", &id]).code, Some(0));
    let shown = shown(&rig, "sqlite", &id);
    let numbers: Vec<u64> = shown
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "no number twice, none missing");
    for pid in harness_testkit::processes("sleep 3041") {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, Signal::KILL).unwrap();
    }
}

/// H12: there and back, unknown events byte for byte.
#[test]
fn conversion_loses_nothing_and_overwrites_nothing() {
    let rig = rig([call("c1", "bash", json!({ "command": "echo hi" })), txt("done"), txt("again")]);
    assert_eq!(rig.run("first").code, Some(0));
    let id = rig.session();
    let log = std::fs::read_to_string(rig.log_file()).unwrap();
    let next = log.lines().count() - 1;
    let unknown = format!(
        "{{\"type\":\"acme/metric\",\"seq\":{next},\"time\":7,\"data\":{{ \"b\" : 1.0, \"a\":[1e2 ,\"\\u0041\"] }}}}\n"
    );
    std::fs::write(rig.log_file(), log + &unknown).unwrap();
    let before = shown(&rig, "jsonl", &id);

    let there = rig.command(["sessions", "convert", "--all", "--to", "sqlite"]).run();
    assert_eq!(there.code, Some(0), "{}", there.stderr);
    assert_eq!(shown(&rig, "sqlite", &id), before);
    let twice = rig.command(["sessions", "convert", &id, "--to", "sqlite"]).run();
    assert_eq!(twice.code, Some(1));
    assert!(twice.stderr.contains("already exists"), "{}", twice.stderr);

    let text = std::fs::read(rig.log_file()).unwrap();
    assert_eq!(rig.command(["sessions", "rm", &id]).run().code, Some(0));
    let back = rig.command(["sessions", "convert", &id, "--to", "jsonl", "--remove"]).run();
    assert_eq!(back.code, Some(0), "{}", back.stderr);
    let lines = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).unwrap().lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    assert_eq!(lines(&std::fs::read(rig.log_file()).unwrap()), lines(&text), "not the same lines");
    assert!(listed(&rig).is_empty(), "the copied one was removed");
    assert_eq!(rig.resume("go on").code, Some(0), "and it goes on");
}

#[test]
fn an_unknown_backend_and_a_combination_that_cannot_be_are_refused() {
    let rig = rig([]);
    let unknown = rig.run_with("go", []).env(BACKEND, "tape").run();
    assert!(unknown.code == Some(1) && unknown.stderr.contains("session.backend"), "{}", unknown.stderr);
    let both = rig.run_with("go", []).env(BACKEND, "sqlite").env("HARNESS_SESSION_COMPRESSION", "zstd").run();
    assert!(both.code == Some(1) && both.stderr.contains("session.compression"), "{}", both.stderr);
}
