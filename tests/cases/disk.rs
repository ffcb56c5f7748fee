//! Storage that fails is told at once, and what could not be stored is kept and tried again.
use std::fs;

use harness_llm_mock::{Reply, txt};
use harness_testkit::{Rig, Started, wait_until};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::Value;

use crate::rig;

/// A write beyond the limit fails like one on a full disk, instead of ending the program.
const LIMITED: &str = "trap '' XFSZ";

/// Lets no file of the program grow beyond so many bytes; `None` lifts that.
fn limit_files(started: &Started, bytes: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(started.pid()).unwrap()).unwrap();
    prlimit(Some(pid), Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

/// Every line is one JSON object, the first and the last of them the envelope.
fn json_lines(stdout: &str) -> Vec<Value> {
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(stdout.ends_with('\n') && lines.len() >= 2, "{stdout}");
    lines
}

fn in_mid_answer() -> Rig {
    let long = "what the disk cannot take ".repeat(40);
    rig([
        Reply::new().pieces(["half "]).gate("full").pieces([long.as_str()]).gate("free").pieces(["done"]),
        txt("after"),
    ])
}

#[test]
fn a_disk_that_fills_up_is_told_at_once_and_loses_nothing_once_there_is_room() {
    for json in [false, true] {
        let rig = in_mid_answer();
        let flags = if json { &["--json"][..] } else { &[] };
        let started = rig.run_with("go", flags.iter().copied()).after_shell(LIMITED).start();
        rig.block_on(rig.server().wait_for_gate("full"));
        let size = wait_until("the session is stored", || {
            (!rig.session_ids().is_empty()).then(|| fs::metadata(rig.log_file()).unwrap().len())
        });
        limit_files(&started, Some(size));
        rig.server().release("full");
        wait_until("the failure is told while the turn runs", || {
            let told = started.stderr_so_far();
            (told.contains("could not be saved") && told.contains("log.jsonl")).then_some(())
        });
        let while_full = fs::read_to_string(rig.log_file()).unwrap();
        assert!(while_full.ends_with('\n'), "half a batch was left behind");
        limit_files(&started, None);
        rig.server().release("free");
        let finished = started.wait();
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        assert!(finished.stderr.contains("the session is saved again"), "{}", finished.stderr);
        assert_eq!(finished.stderr.matches("could not be saved").count(), 1, "{}", finished.stderr);
        if json {
            assert_eq!(json_lines(&finished.stdout).last().unwrap()["type"], "run/end");
        }
        let story = rig.story();
        assert!(story.contains("cannot take") && story.contains("turn/end 1 completed"), "{story}");
        assert_eq!(rig.resume("more").code, Some(0));
        assert!(rig.request(2)["messages"].to_string().contains("done"));
    }
}

/// It stays full: the run fails, says so, and what was stored before loads.
#[test]
fn a_disk_that_stays_full_fails_the_run_and_keeps_what_was_stored() {
    let rig = in_mid_answer();
    let started = rig.run_with("go", ["--json"]).after_shell(LIMITED).start();
    rig.block_on(rig.server().wait_for_gate("full"));
    let size = fs::metadata(rig.log_file()).unwrap().len();
    limit_files(&started, Some(size));
    rig.server().release("full");
    wait_until("the failure is told", || {
        started.stderr_so_far().contains("could not be saved").then_some(())
    });
    rig.server().release("free");
    let finished = started.wait();
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    let lines = json_lines(&finished.stdout);
    assert_eq!(lines.last().unwrap()["error"]["code"], "NOT_DURABLE", "{}", finished.stdout);
    // What could not be stored was shown all the same.
    assert!(finished.stdout.contains("cannot take"), "{}", finished.stdout);
    assert_eq!(rig.resume("more").code, Some(0), "what was stored goes on");
    assert!(rig.story().contains("turn/end 1 interrupted"), "{}", rig.story());
}

/// A folder that takes no files (for root, whom permissions do not stop: a file in its place).
#[test]
fn a_folder_that_cannot_be_written_is_told_before_the_model_is_asked() {
    for json in [false, true] {
        let rig = rig([txt("never asked for")]);
        let folder = rig.sessions();
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        if rustix::process::geteuid().is_root() {
            fs::write(&folder, "").unwrap();
        } else {
            fs::create_dir_all(&folder).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o555);
            fs::set_permissions(&folder, mode).unwrap();
        }
        let flags = if json { &["--json"][..] } else { &[] };
        let finished = rig.run_with("go", flags.iter().copied()).run();
        assert_eq!(finished.code, Some(1), "{}", finished.stderr);
        let told = finished.stderr.contains("could not be saved");
        assert!(told && finished.stderr.contains("harness/sessions"), "{}", finished.stderr);
        if json {
            assert_eq!(json_lines(&finished.stdout).last().unwrap()["error"]["code"], "NOT_DURABLE");
        }
        assert!(rig.server().requests().is_empty(), "the model was asked without a record");
    }
}
