//! H01 to H04: what a shell command can do to its caller.
use std::time::Duration;

use harness_llm_mock::txt;
use harness_testkit::{processes, wait_until};
use serde_json::json;

use crate::{call, rig};

/// H01: a background child keeps the pipe open.
#[test]
fn a_background_child_does_not_hold_the_result() {
    for command in ["sleep 3001 & echo ready", "sleep 3001 >/dev/null 2>&1 & echo ready $!"] {
        let rig = rig([call("c1", "bash", json!({ "command": command })), txt("done")]);
        let finished = rig.run("go");
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        assert!(finished.elapsed < Duration::from_secs(20), "hung for {:?}", finished.elapsed);
        let result = rig.tool_result(2);
        assert!(result.contains("ready"), "{result}");
        assert!(!result.contains("exit code"), "exit code 0 is not worth a line: {result}");
        wait_until("no child of ours is left", || processes("sleep 3001").is_empty().then_some(()));
        assert!(rig.story().contains("turn/end 1 completed"));
    }
}

/// H02: a time limit takes the whole tree.
#[test]
fn a_timeout_takes_the_whole_tree() {
    let command = "bash -c 'sleep 3011 & sleep 3012' ; echo never";
    let rig = rig([
        call("c1", "bash", json!({ "command": command, "timeoutMs": 1000 })),
        call("c2", "bash", json!({ "command": "echo ok" })),
        txt("done"),
    ]);
    let finished = rig.run("go");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let result = rig.tool_result(2);
    assert!(result.contains("timed out after 1000 ms") && !result.contains("never"), "{result}");
    assert!(rig.story().contains("tool/result TOOL_TIMEOUT"), "{}", rig.story());
    assert_eq!(rig.tool_result(3), "ok\n");
    wait_until("the tree is gone", || {
        (processes("sleep 3011").is_empty() && processes("sleep 3012").is_empty()).then_some(())
    });
}

/// H03: huge output.
#[test]
fn huge_output_is_bounded_and_saved_whole() {
    let command = "echo HEAD-MARK; head -c 300000000 /dev/zero | tr '\\0' 'x' | fold -w 200; echo TAIL-MARK >&2; exit 3";
    let rig = rig([
        call("c1", "bash", json!({ "command": command })),
        call("c2", "bash", json!({ "command": "head -c 10000 /dev/zero | tr '\\0' 'y'" })),
        txt("done"),
    ]);
    let started = rig.run_with("go", []).start();
    let pid = started.pid();
    let mut peak = 0;
    wait_until("the second call is asked for", || {
        peak = peak.max(resident_kib(pid));
        (rig.server().requests().len() >= 2).then_some(())
    });
    let finished = started.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(peak < 300 * 1024, "peak memory was {peak} KiB");
    let result = rig.tool_result(2);
    assert!(result.len() < 40_000, "the result has {} bytes", result.len());
    assert!(result.contains("HEAD-MARK") && result.contains("TAIL-MARK"), "both ends are there");
    assert!(result.contains("[exit code 3]"));
    // 300 MB, a line feed after every 200 bytes but the last, and the two marks.
    let total = 300_000_000 + 1_499_999 + 20;
    assert!(result.contains(&format!("output was {total} bytes")), "{}", &result[result.len() - 400..]);
    let path = result.split("the whole output is in ").nth(1).unwrap().split(']').next().unwrap();
    assert_eq!(std::fs::metadata(path).unwrap().len(), total);
    assert!(std::fs::metadata(rig.log_file()).unwrap().len() < 1_000_000);
    assert_eq!(rig.tool_result(3), "y".repeat(10_000) + "\n", "10 KB is not cut");
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// H04: the working folder is gone.
#[test]
fn a_deleted_working_folder_is_named() {
    let rig = rig([
        call("c1", "bash", json!({ "command": "rm -rf \"$PWD\"" })),
        call("c2", "bash", json!({ "command": "echo alive" })),
        call("c3", "bash", json!({ "command": "cd / && pwd" })),
        txt("done"),
        call("c4", "bash", json!({ "command": "echo back" })),
        txt("done"),
    ]);
    let folder = rig.workspace().join("a/b");
    std::fs::create_dir_all(&folder).unwrap();
    let finished = rig.run_with("go", ["--cwd", folder.to_str().unwrap()]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    for n in [3, 4] {
        let result = rig.tool_result(n);
        assert!(result.contains(folder.to_str().unwrap()) && result.contains("does not exist"), "{result}");
    }
    std::fs::create_dir_all(&folder).unwrap();
    let session = rig.session();
    let finished = rig.run_with("again", ["--cwd", folder.to_str().unwrap(), "--resume", &session]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(rig.tool_result(6), "back\n");
}
