//! Signals in mid-stream and in mid-tool: children gone, log balanced, resume works.
use harness_llm_mock::{Reply, txt};
use harness_testkit::{processes, wait_until};
use rustix::process::Signal;
use serde_json::json;

use crate::{call, rig};

#[test]
fn an_interrupt_in_mid_stream_closes_the_turn() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let rig = rig([Reply::new().pieces(["half an "]).gate("never"), txt("resumed")]);
        let started = rig.run_with("go", []).start();
        rig.block_on(rig.server().wait_for_gate("never"));
        started.signal(signal);
        let finished = started.wait();
        assert_eq!(finished.code, Some(code), "{}", finished.stderr);
        let story = rig.story();
        assert!(story.contains("turn/end 1 aborted"), "{story}");
        assert_eq!(rig.resume("go on").code, Some(0));
        assert!(rig.story().contains("turn/end 2 completed"));
    }
}

#[test]
fn an_interrupt_in_mid_tool_leaves_no_child() {
    let rig = rig([
        call("c1", "bash", json!({ "command": "touch started; sleep 3021 & sleep 3022" })),
        txt("resumed"),
    ]);
    let started = rig.run_with("go", []).start();
    wait_until("the tool runs", || rig.workspace().join("started").exists().then_some(()));
    started.signal(Signal::INT);
    let finished = started.wait();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    assert!(processes("sleep 3021").is_empty() && processes("sleep 3022").is_empty(), "children are gone");
    let story = rig.story();
    assert!(story.contains("tool/result ABORTED") && story.contains("turn/end 1 aborted"), "{story}");
    assert_eq!(rig.resume("go on").code, Some(0));
    let request = rig.request(2);
    let messages = request["messages"].as_array().unwrap();
    let asked = messages.iter().position(|message| message["tool_calls"].is_array()).unwrap();
    assert_eq!(messages[asked + 1]["role"], "tool", "the call is answered right after it");
    assert_eq!(messages.last().unwrap()["content"], "go on");
}

/// Whoever reads standard output stopped reading (a pager that waits for a key): signals and the log work on.
#[test]
fn a_reader_that_does_not_read_delays_neither_signal_nor_log() {
    let long = "0123456789abcde\n".repeat(20_000);
    let rig = rig([Reply::new().pieces([long.as_str()]).gate("never"), txt("resumed")]);
    let started = rig.run_with("go", []).stdout_stopped_after(1000).start();
    rig.block_on(rig.server().wait_for_gate("never"));
    wait_until("the reader stopped", || started.stdout_closed().then_some(()));
    started.signal(Signal::INT);
    let finished = started.wait();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    assert!(rig.story().contains("turn/end 1 aborted"), "{}", rig.story());
    assert_eq!(rig.resume("go on").code, Some(0));
}

/// The same after the answer: the turn is saved, and a signal ends the wait for the reader.
#[test]
fn an_answer_that_nobody_reads_is_saved_before_the_signal() {
    let long = "0123456789abcde\n".repeat(20_000);
    let rig = rig([txt(&long)]);
    let started = rig.run_with("go", []).stdout_stopped_after(1000).start();
    wait_until("the turn is in the log", || {
        let saved = !rig.session_ids().is_empty()
            && std::fs::read_to_string(rig.log_file()).is_ok_and(|log| log.contains("turn/end"));
        saved.then_some(())
    });
    started.signal(Signal::TERM);
    assert_eq!(started.wait().code, Some(143));
}

/// Killed outright in the middle of a tool: the next run mends the log and goes on.
#[test]
fn a_kill_in_mid_tool_is_mended_on_resume() {
    let rig = rig([
        call("c1", "bash", json!({ "command": "touch started; sleep 3031" })),
        txt("resumed"),
        txt("again"),
    ]);
    let started = rig.run_with("go", []).start();
    wait_until("the tool runs", || rig.workspace().join("started").exists().then_some(()));
    started.kill();
    let finished = rig.resume("next");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let results = rig.tool_results(2);
    assert_eq!(results.len(), 1, "one call, one answer");
    let story = rig.story();
    assert!(story.contains("turn/end 1 interrupted") && story.contains("turn/end 2 completed"), "{story}");
    assert_eq!(rig.resume("once more").code, Some(0));
    assert_eq!(rig.tool_results(3).len(), 1, "a second resume mends nothing");
    for pid in processes("sleep 3031") {
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(),
            Signal::KILL,
        )
        .unwrap();
    }
}
