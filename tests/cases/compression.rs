//! Compressed sessions: chosen in the configuration, read by all commands, mixed with plain ones.
use std::fs;

use harness_llm_mock::{Reply, txt};
use harness_testkit::Rig;
use serde_json::json;

use crate::{call, rig};

/// How many lines of the log are compressed.
fn packed(rig: &Rig) -> usize {
    let log = fs::read(rig.log_file()).unwrap();
    log.split(|byte| *byte == b'\n').filter(|line| matches!(line.first(), Some(b'Z' | b'z'))).count()
}
fn compress(rig: &Rig, how: &str) {
    let config = rig.home().join(".config/harness/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, format!("[session]\ncompression = \"{how}\"\n")).unwrap();
}
fn replies() -> Vec<Reply> {
    vec![
        call("w", "write", json!({ "file_path": "a.txt", "content": "some text\n".repeat(200) })),
        txt("done: größer"),
        txt("second"),
        txt("third"),
    ]
}

#[test]
fn a_compressed_session_is_smaller_and_goes_on_in_either_form() {
    let sizes = ["none", "zstd"].map(|how| {
        let rig = rig(replies());
        compress(&rig, how);
        let finished = rig.run("go on");
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        assert_eq!(packed(&rig) > 0, how == "zstd");
        let size = fs::metadata(rig.log_file()).unwrap().len();
        for (prompt, how) in [("again", "none"), ("and again", "zstd")] {
            let before = (fs::read(rig.log_file()).unwrap(), packed(&rig));
            compress(&rig, how);
            let finished = rig.resume(prompt);
            assert_eq!(finished.code, Some(0), "{}", finished.stderr);
            assert!(!finished.stderr.contains("log.jsonl"), "nothing is to be mended: {}", finished.stderr);
            assert!(fs::read(rig.log_file()).unwrap().starts_with(&before.0), "rewritten");
            assert_eq!(packed(&rig) > before.1, how == "zstd");
        }
        let texts = rig.request(4)["messages"].to_string();
        for said in ["go on", "done: größer", "again", "second", "and again"] {
            assert!(texts.contains(said), "{said}: {texts}");
        }
        let id = rig.session();
        let list = rig.command(["sessions", "list", "--json"]).run().stdout;
        let listed: serde_json::Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
        assert_eq!((&listed["title"], &listed["turns"]), (&json!("go on"), &json!(3)), "{listed}");
        assert!(listed["events"].as_u64().is_some(), "{listed}");
        assert!(rig.command(["sessions", "show", &id]).run().stdout.contains("done: größer"));
        assert_eq!(rig.command(["sessions", "check", &id]).run().code, Some(0));
        size
    });
    assert!(sizes[1] * 2 < sizes[0], "{sizes:?}");
}

#[test]
fn a_torn_compressed_tail_is_set_aside_and_told() {
    let rig = rig(replies());
    compress(&rig, "zstd");
    assert_eq!(rig.run("go on").code, Some(0));
    let log = fs::read(rig.log_file()).unwrap();
    // In the middle of the last compressed line.
    let mut starts = (1..log.len()).filter(|at| log[at - 1] == b'\n' && matches!(log[*at], b'Z' | b'z'));
    let start = starts.next_back().unwrap();
    fs::write(rig.log_file(), &log[..start + 20]).unwrap();
    let finished = rig.resume("after");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let told = &finished.stderr;
    assert!(told.contains("log.jsonl") && told.contains(&format!("byte {start}")), "{told}");
    assert!(fs::read(rig.log_file()).unwrap().starts_with(&log[..start]));
    let aside = rig.log_file().with_file_name(format!("torn-{start}"));
    assert_eq!(fs::read(aside).unwrap(), &log[start..start + 20]);
    assert_eq!(rig.command(["sessions", "check", "--all"]).run().code, Some(0));
}

#[test]
fn damage_inside_compressed_lines_is_refused_and_repaired() {
    let rig = rig(replies());
    compress(&rig, "zstd");
    assert_eq!(rig.run("go on").code, Some(0));
    let mut log = fs::read(rig.log_file()).unwrap();
    let start = (1..log.len()).find(|at| log[at - 1] == b'\n' && log[*at] == b'Z').unwrap();
    log[start + 30] ^= 1;
    fs::write(rig.log_file(), &log).unwrap();
    let id = rig.session();
    let refused = rig.resume("after");
    assert_eq!(refused.code, Some(1));
    for part in [format!("byte {start}"), format!("harness sessions repair {id}")] {
        assert!(refused.stderr.contains(&part), "{part}: {}", refused.stderr);
    }
    assert_eq!(fs::read(rig.log_file()).unwrap(), log, "refused but changed");
    assert_eq!(rig.command(["sessions", "check", &id]).run().code, Some(1));
    let repaired = rig.command(["sessions", "repair", &id]).run();
    assert_eq!(repaired.code, Some(0), "{}", repaired.stderr);
    assert_eq!(fs::read(rig.log_file().with_file_name("damaged-1.jsonl")).unwrap(), log);
    let finished = rig.resume("after");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

#[test]
fn an_unknown_compression_is_refused_with_the_choices() {
    let rig = rig([txt("never")]);
    compress(&rig, "gzip");
    let finished = rig.run("go");
    assert_ne!(finished.code, Some(0));
    for part in ["compression", "gzip", "zstd", "none"] {
        assert!(finished.stderr.contains(part), "{part}: {}", finished.stderr);
    }
}
