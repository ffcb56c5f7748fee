//! H19 and H20: standard input, and failures that scripts can see.
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

use harness_llm_mock::{Reply, txt};
use harness_testkit::{Input, wait_until};
use serde_json::Value;

use crate::rig;

/// Both ends of a fifo; the writer never says anything as long as it lives.
fn fifo(rig: &harness_testkit::Rig) -> (std::fs::File, std::fs::File) {
    let path = rig.root().join("p");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from(0o600), 0)
        .unwrap();
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
    let reader = OpenOptions::new().read(true).custom_flags(nonblocking).open(&path).unwrap();
    let writer = OpenOptions::new().write(true).open(&path).unwrap();
    rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::empty()).unwrap();
    (reader, writer)
}

/// H19: standard input that never ends.
#[test]
fn an_idle_pipe_does_not_hold_a_prompt() {
    let rig = rig([txt("hi")]);
    let (reader, writer) = fifo(&rig);
    let finished = rig.run_with("say hi", []).input(Input::Open(reader)).run();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "hi\n"), "{}", finished.stderr);
    drop(writer);
    assert!(rig.story().contains("[user] say hi"));
}

#[test]
fn without_a_prompt_an_idle_pipe_is_a_usage_error() {
    let rig = rig([]);
    let (reader, writer) = fifo(&rig);
    let finished = rig.command(["run"]).input(Input::Open(reader)).run();
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("no task") && finished.stdout.is_empty(), "{}", finished.stderr);
    drop(writer);
    let finished = rig.command(["run"]).run();
    assert_eq!(finished.code, Some(2), "the null device is no task either");
}

#[test]
fn piped_text_follows_the_prompt_or_is_the_prompt() {
    let rig = rig([txt("1"), txt("2")]);
    let extra = || Input::Open(std::fs::File::open(rig.file("extra", "extra text\n")).unwrap());
    assert_eq!(rig.run_with("say hi", []).input(extra()).run().code, Some(0));
    let url = rig.server().base_url();
    let piped = rig.command(["run", "--base-url", &url, "--model", "m"]).input(extra()).run();
    assert_eq!(piped.code, Some(0), "{}", piped.stderr);
    let last = |n| {
        let request = rig.request(n);
        request["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(last(1), "say hi\n\nextra text\n");
    assert_eq!(last(2), "extra text\n");
}

/// H20: failure is visible to scripts.
#[test]
fn failures_are_told_in_text_and_in_json() {
    for (reply, code) in [(Reply::error(401, "bad key"), "AUTH"), (Reply::error(500, "boom"), "SERVER")] {
        let rig = rig([reply.clone(), reply]);
        let text = rig.run("go");
        assert_eq!((text.code, text.stdout.as_str()), (Some(1), ""), "{}", text.stderr);
        assert!(text.stderr.contains(code), "{}", text.stderr);
        let json = rig.run_with("go", ["--json"]).run();
        assert_eq!(json.code, Some(1));
        let lines: Vec<Value> = json.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = lines.last().unwrap();
        assert_eq!(last["type"], "run/end");
        assert_eq!(last["error"]["code"], code);
        assert_eq!(last["session"], lines[0]["session"]);
        assert_eq!((last["exit_code"].as_i64(), last["version"].as_i64()), (Some(1), Some(1)));
        rig.assert_no_key(&text);
        rig.assert_no_key(&json);
    }
}

#[test]
fn no_server_is_told_with_its_address() {
    let rig = rig([]);
    let finished = rig.command(["run", "go", "--base-url", "http://127.0.0.1:1", "--model", "m"]).run();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(
        finished.stderr.contains("127.0.0.1:1") && finished.stderr.contains("TRANSPORT"),
        "{}",
        finished.stderr
    );
    assert!(rig.story().contains("turn/end 1 error TRANSPORT"), "the log is balanced");
}

#[test]
fn success_is_zero_and_every_json_line_parses() {
    let rig = rig([txt("hello")]);
    let finished = rig.run_with("go", ["--json"]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let lines: Vec<Value> = finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["type"], "run/start");
    let logged: Vec<_> =
        lines[1..lines.len() - 1].iter().map(|line| line["type"].as_str().unwrap()).collect();
    let stored: Vec<String> = rig.events().iter().map(|event| event.body.type_name().to_owned()).collect();
    assert_eq!(logged, stored, "the events are those of the log");
    let answer = lines.iter().find(|line| line["type"] == "assistant/message").unwrap();
    assert_eq!(answer["data"]["message"]["content"][0]["text"], "hello", "spelt out");
    let last = lines.last().unwrap();
    assert!(last["error"].is_null() && last["usage"]["input"].as_u64().unwrap() > 0);
}

#[test]
fn a_closed_standard_output_ends_quietly_with_the_session_saved() {
    let rig =
        rig([Reply::new().pieces(["one "]).gate("more").pieces(["two "]).gate("end").pieces(["three"])]);
    let started = rig.run_with("go", []).stdout_limit(4).start();
    rig.block_on(rig.server().wait_for_gate("more"));
    wait_until("standard output is closed", || started.stdout_closed().then_some(()));
    rig.server().release("more");
    let finished = started.wait();
    assert_eq!(finished.code, Some(141));
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    wait_until("the log is closed", || rig.story().contains("turn/end 1 aborted").then_some(()));
}

/// Data that could not be written is no success.
#[test]
fn a_full_standard_output_is_not_success() {
    let rig = rig([]);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_harness"))
        .args(["config", "show"])
        .env("HARNESS_HOME", rig.home())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output failed"));
}

#[test]
fn a_standard_input_that_cannot_be_read_is_told() {
    let rig = rig([]);
    let folder = std::fs::File::open(rig.workspace()).unwrap();
    let finished = rig.run_with("say hi", []).input(Input::Open(folder)).run();
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    assert!(finished.stderr.contains("standard input cannot be read"), "{}", finished.stderr);
    assert!(rig.session_ids().is_empty(), "nothing was begun");
}

#[test]
fn an_illegal_log_filter_is_told_and_does_not_stop_the_run() {
    let rig = rig([txt("hi")]);
    let finished = rig.run_with("say hi", []).env("HARNESS_LOG", "debug=[").run();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "hi\n"));
    assert!(finished.stderr.contains("HARNESS_LOG=`debug=[` is ignored"), "{}", finished.stderr);
}
