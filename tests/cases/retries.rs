//! H20 once more, with retries; and what a retry must never do.
use harness_llm_mock::{End, Reply, Script, Step, WhenExhausted, txt};
use harness_testkit::{Finished, Invocation, KEY, Rig, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{call, rig};

/// Retries as they ship, except that the waits are short.
fn quick(run: Invocation) -> Invocation {
    run.env_remove("HARNESS_RETRY_MAX_RETRIES")
        .env("HARNESS_RETRY_BASE_DELAY_MS", "1")
        .env("HARNESS_RETRY_MAX_DELAY_MS", "5")
}
fn last_line(finished: &Finished) -> Value {
    let values: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    values.last().expect("there is a line").clone()
}
/// Data of the events of a type, oldest first.
fn logged(rig: &Rig, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(rig.log_file()).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["type"] == name).map(|event| event["data"].clone()).collect()
}

#[test]
fn h20_failures_are_visible_after_the_retries() {
    // 401: asking again does not help.
    let rig = Rig::with_script(
        env!("CARGO_BIN_EXE_harness"),
        Script::new([
            Reply::error(401, "bad key"),
            Reply::error(500, "broken").times(6),
            Reply::error(500, "broken").times(2),
            txt("fine"),
        ]),
    );
    let finished = quick(rig.run_with("go", ["--json"])).run();
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert_eq!(last_line(&finished)["error"]["code"], "AUTH");
    assert_eq!(rig.server().requests().len(), 1);
    rig.assert_no_key(&finished);

    // 500 to the end of the retries: one request and five retries.
    let id = rig.session();
    let finished = quick(rig.run_with("go", ["--resume", &id])).run();
    assert_eq!(finished.code, Some(1));
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    assert!(finished.stderr.contains("[SERVER]"), "{}", finished.stderr);
    assert!(finished.stderr.contains("retry 5 of 5"), "{}", finished.stderr);
    assert_eq!(rig.server().requests().len(), 7);
    let retries = logged(&rig, "llm/retry");
    assert_eq!(retries.len(), 5);
    for (at, retry) in (1u64..).zip(&retries) {
        assert_eq!((retry["attempt"].as_u64(), retry["retry"].as_u64()), (Some(at), Some(at)));
        assert_eq!((retry["class"].as_str(), retry["code"].as_str()), (Some("server"), Some("SERVER")));
    }
    assert_eq!(logged(&rig, "llm/retry-stopped")[0]["reason"]["kind"], "exhausted");

    // A passing failure is survived.
    let finished = quick(rig.run_with("go", ["--resume", &id, "--json"])).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(last_line(&finished)["error"], Value::Null);
    assert!(rig.story().contains("assistant/message fine"));
    rig.assert_no_key(&finished);

    // No server at all.
    let finished =
        quick(rig.command(["run", "go", "--base-url", "http://127.0.0.1:1", "--model", "m", "--json"])).run();
    assert_eq!(finished.code, Some(1));
    assert_eq!(last_line(&finished)["error"]["code"], "TRANSPORT");
    assert!(!finished.stderr.contains(KEY));
}

/// A partial answer is neither kept nor said twice, and its tool call does not run.
#[test]
fn an_attempt_that_broke_off_leaves_nothing_behind() {
    let broken = Reply::new()
        .pieces(["Let me "])
        .call(harness_llm_mock::ToolCall::new("bash", json!({ "command": "echo run >> ran" })).id("c0"));
    let whole = Reply::new()
        .pieces(["Let me ", "look."])
        .call(harness_llm_mock::ToolCall::new("bash", json!({ "command": "echo run >> ran" })).id("c1"));
    let rig = rig([broken.clone().end(End::Eof), broken.end(End::Reset), whole, txt("done")]);
    let finished = quick(rig.run_with("go", [])).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(rig.bytes("ran"), b"run\n", "the tool ran once");
    assert_eq!(finished.stdout, "Let me look.\ndone\n", "nothing is said twice");
    let bodies: Vec<_> = rig.server().requests().iter().map(|request| request.body().to_vec()).collect();
    assert_eq!(bodies[0], bodies[1], "the same request is made again");
    assert_eq!(bodies[1], bodies[2]);
    let last = rig.request(4);
    let assistant: Vec<_> = last["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "assistant")
        .collect();
    assert_eq!(assistant.len(), 1);
    assert_eq!(assistant[0]["content"], "Let me look.");
    let classes: Vec<_> = logged(&rig, "llm/retry").iter().map(|retry| retry["class"].clone()).collect();
    assert_eq!(classes, ["stream-cut", "transport"]);
}

#[test]
fn the_provider_says_how_long_to_wait_within_bounds() {
    let slow = |seconds: &str| Reply::error(429, "slow down").header("Retry-After", seconds);
    let rig = rig([slow("1"), txt("ok"), slow("3600")]);
    let finished = quick(rig.run_with("go", [])).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let retry = &logged(&rig, "llm/retry")[0];
    assert_eq!((retry["class"].as_str(), retry["asked"].as_bool()), (Some("rate-limit"), Some(true)));
    assert!(retry["wait_ms"].as_u64().unwrap() >= 1000, "never shortened: {retry}");
    assert!(finished.elapsed.as_millis() >= 1000);

    let id = rig.session();
    let finished = quick(rig.run_with("go", ["--resume", &id])).run();
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("RATE_LIMIT"), "{}", finished.stderr);
    let stopped = &logged(&rig, "llm/retry-stopped")[0];
    assert_eq!(stopped["reason"], json!({ "kind": "wait-too-long", "asked_ms": 3_600_000 }));
}

/// Ctrl-C in the middle of a wait ends the run at once, with a balanced log.
#[test]
fn a_wait_is_cancelled_at_once() {
    let rig = rig([Reply::error(503, "busy").header("Retry-After", "50"), txt("later")]);
    let started = rig.run_with("go", []).env_remove("HARNESS_RETRY_MAX_RETRIES").start();
    // The record is durable before the wait begins.
    wait_until("the retry is logged", || {
        let file = rig.session_ids().first().map(|id| rig.sessions().join(id).join("log.jsonl"))?;
        std::fs::read_to_string(file).ok()?.contains("llm/retry").then_some(())
    });
    started.signal(Signal::INT);
    let finished = started.wait();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    assert!(finished.elapsed.as_secs() < 30, "it did not wait for the 50 s");
    assert!(rig.story().contains("turn/end 1 aborted"), "{}", rig.story());
    assert_eq!(rig.resume("again").code, Some(0));
}

/// Each step has its own retries, and a tool that ran is not run again.
#[test]
fn each_step_has_its_own_retries() {
    let mut replies = Vec::new();
    for step in 1..=3 {
        replies.push(Reply::error(500, "broken").times(3));
        replies.push(call(&format!("c{step}"), "bash", json!({ "command": format!("echo {step} >> ran") })));
    }
    replies.push(Reply::new().step(Step::Head).end(End::Cut));
    replies.push(txt("done"));
    let rig = Rig::with_script(
        env!("CARGO_BIN_EXE_harness"),
        Script::new(replies).when_exhausted(WhenExhausted::Error),
    );
    let finished = quick(rig.run_with("go", [])).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(rig.bytes("ran"), b"1\n2\n3\n");
    assert_eq!(logged(&rig, "llm/retry").len(), 10);
}
