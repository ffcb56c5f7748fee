//! `sessions rm` by age, and what the commands on damaged sessions print.
use std::fmt::Write;
use std::fs;
use std::time::{Duration, SystemTime};

use harness_llm_mock::{Reply, txt};
use harness_testkit::{Finished, Rig};
use serde_json::{Value, json};

use crate::rig;

fn lines(finished: &Finished) -> Vec<Value> {
    finished.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn only_what_is_old_and_not_in_use_goes() {
    let rig = rig([txt("one"), txt("two"), txt("three"), Reply::new().pieces(["half "]).gate("end")]);
    for prompt in ["old", "new", "waiting"] {
        assert_eq!(rig.run(prompt).code, Some(0));
    }
    let listed = lines(&rig.command(["sessions", "list", "--json"]).run());
    let id = |title: &str| {
        let found = listed.iter().find(|session| session["title"] == title).unwrap();
        found["id"].as_str().unwrap().to_owned()
    };
    let (old, new, waiting) = (id("old"), id("new"), id("waiting"));
    let started = rig.run_with("more", ["--resume", &waiting]).start();
    rig.block_on(rig.server().wait_for_gate("end"));
    let month = SystemTime::now() - Duration::from_hours(31 * 24);
    for id in [&old, &waiting] {
        let log = fs::File::options().append(true).open(rig.sessions().join(id).join("log.jsonl")).unwrap();
        log.set_modified(month).unwrap();
    }
    let removed = rig.command(["sessions", "rm", "--older-than", "30d", "--json"]).run();
    assert_eq!(removed.code, Some(1), "one is in use");
    let mut told = lines(&removed);
    told.sort_by_key(|line| line["removed"] == json!(false));
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!((&told[0]["id"], &told[0]["removed"]), (&json!(old), &json!(true)));
    assert_eq!((&told[1]["id"], &told[1]["code"]), (&json!(waiting), &json!("SESSION_IN_USE")));
    let mut left = rig.session_ids();
    let mut expected = vec![new, waiting];
    left.sort();
    expected.sort();
    assert_eq!(left, expected);
    rig.server().release("end");
    started.wait();

    let none = rig.command(["sessions", "rm", "--older-than", "30d"]).run();
    assert_eq!((none.code, none.stderr.trim()), (Some(0), "no session is that old"));
    for wrong in [&["sessions", "rm"][..], &["sessions", "rm", "--older-than", "30"]] {
        assert_eq!(rig.command(wrong).run().code, Some(2), "{wrong:?}");
    }
}

/// What people and programs read of a damaged session, word for word.
#[test]
fn damage_and_repair_are_told_in_full() {
    let rig = rig([txt("one"), txt("two")]);
    assert_eq!(rig.run("first").code, Some(0));
    let id = rig.session();
    assert_eq!(rig.run_with("second", ["--resume", &id]).run().code, Some(0));
    let text = fs::read_to_string(rig.log_file()).unwrap();
    let at = text.find("\"type\":\"turn/end\"").unwrap();
    fs::write(rig.log_file(), format!("{}garbled{}", &text[..at], &text[at + 6..])).unwrap();
    let mut told = String::new();
    let commands: [&[&str]; 6] = [
        &["check", &id],
        &["check", "--all", "--json"],
        &["repair", &id, "--dry-run"],
        &["repair", &id, "--json"],
        &["repair", &id],
        &["check", &id],
    ];
    for command in commands {
        let finished = rig.command([&["sessions"], command].concat()).run();
        let words = command.join(" ");
        let (said, code) = (finished.stdout + &finished.stderr, finished.code.unwrap());
        writeln!(told, "$ harness sessions {words}\n{said}exit code {code}\n").unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&id, "[id]");
    settings.add_filter(&regex_free(&rig), "[sessions]");
    settings.add_filter(r"byte \d+", "byte [n]");
    settings.add_filter(r"column \d+", "column [n]");
    settings.bind(|| insta::assert_snapshot!("damage_and_repair", told));
}

/// The folder of sessions as a pattern for itself.
fn regex_free(rig: &Rig) -> String {
    rig.sessions().display().to_string().replace('.', "\\.")
}
