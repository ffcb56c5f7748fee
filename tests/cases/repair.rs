//! Torn, foreign and damaged logs, forks and deletions, through the program.
use std::fs;

use harness_llm_mock::{Reply, txt};
use harness_testkit::{Rig, wait_until};
use serde_json::{Value, json};

use crate::{call, rig};

fn json_line(text: &str) -> Value {
    serde_json::from_str(text.lines().next().unwrap()).unwrap()
}

/// A log cut in different ways; two more turns.
#[test]
fn a_torn_tail_costs_nothing_complete() {
    type Cut = fn(Vec<u8>) -> Vec<u8>;
    let cuts: [(&str, Cut); 5] = [
        ("inside a character", |log| {
            let at = log.windows(2).rposition(|pair| pair == "ö".as_bytes()).unwrap();
            log[..=at].to_vec()
        }),
        ("before the line feed", |log| log[..log.len() - 1].to_vec()),
        ("a blank line behind", |log| [&log[..], b"\n"].concat()),
        ("in the last line", |log| log[..log.len() - 9].to_vec()),
        ("the header only", |log| log[..=log.iter().position(|byte| *byte == b'\n').unwrap()].to_vec()),
    ];
    for (what, cut) in cuts {
        let rig = rig([txt("größer"), txt("second"), txt("third")]);
        assert_eq!(rig.run("schön").code, Some(0));
        let torn = cut(fs::read(rig.log_file()).unwrap());
        fs::write(rig.log_file(), &torn).unwrap();
        let whole = match torn.iter().rposition(|byte| *byte == b'\n') {
            Some(end) if what != "before the line feed" => torn[..=end].to_vec(),
            _ => torn.clone(),
        };
        let finished = rig.resume("after");
        assert_eq!(finished.code, Some(0), "{what}: {}", finished.stderr);
        if what.contains("in") && what != "before the line feed" {
            assert!(
                finished.stderr.contains("log.jsonl") && finished.stderr.contains("byte"),
                "{what}: {}",
                finished.stderr
            );
        }
        let log = fs::read(rig.log_file()).unwrap();
        assert!(log.starts_with(&whole), "{what}: complete events were rewritten");
        // Every line is one event: none were glued, and the new turn is there at the second resume.
        let story = rig.story();
        assert!(story.contains("after") && story.contains("second"), "{what}: {story}");
        assert_eq!(rig.resume("again").code, Some(0), "{what}");
        let request = rig.request(3);
        let texts = request["messages"].to_string();
        assert!(texts.contains("after") && texts.contains("second"), "{what}: {texts}");
    }
}

#[test]
fn an_empty_log_is_refused_and_can_be_repaired() {
    let rig = rig([txt("first"), txt("second")]);
    assert_eq!(rig.run("go").code, Some(0));
    let id = rig.session();
    fs::write(rig.log_file(), "").unwrap();
    let refused = rig.resume("after");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains(&format!("harness sessions repair {id}")), "{}", refused.stderr);
    assert_eq!(fs::read(rig.log_file()).unwrap(), b"");
    assert_eq!(rig.command(["sessions", "check", "--all"]).run().code, Some(1));
    assert_eq!(rig.command(["sessions", "repair", &id]).run().code, Some(0));
    assert_eq!(rig.command(["sessions", "check", "--all"]).run().code, Some(0));
    assert_eq!(rig.resume("after").code, Some(0));
}

/// Unknown events, between turns and inside one, stay byte for byte; a required one and a newer format refuse.
#[test]
fn foreign_events_are_kept_and_what_must_be_understood_refuses() {
    let rig = rig([txt("one"), txt("two")]);
    assert_eq!(rig.run("go").code, Some(0));
    let text = fs::read_to_string(rig.log_file()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // A metric that the model's message pushes on by one: everything behind it counts on.
    let at = lines.iter().position(|line| line.contains("\"type\":\"step/start\"")).unwrap();
    let foreign = |seq: usize| {
        format!("{{\"type\":\"acme/metric\",\"seq\":{seq},\"time\":1,\"data\":[ 1.50, {{\"b\":-0.0}} ]}}")
    };
    let shifted: Vec<String> = lines[at + 1..].iter().map(|line| shift(line, at as u64)).collect();
    let inside = foreign(at);
    let between = foreign(lines.len());
    let mut all: Vec<String> = lines[..=at].iter().map(ToString::to_string).collect();
    all.push(inside.clone());
    all.extend(shifted);
    all.push(between.clone());
    fs::write(rig.log_file(), all.join("\n") + "\n").unwrap();
    let finished = rig.resume("more");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let after = fs::read_to_string(rig.log_file()).unwrap();
    assert!(after.starts_with(&(all.join("\n") + "\n")), "the file was rewritten");
    assert_eq!(after.lines().filter(|line| *line == inside || *line == between).count(), 2);
    let request = rig.request(2)["messages"].to_string();
    assert!(request.contains("go") && request.contains("one") && !request.contains("metric"), "{request}");

    let id = rig.session();
    let next = after.lines().count() - 1;
    for (what, changed, word) in [
        (
            "required",
            format!(
                "{after}{{\"type\":\"acme/must\",\"seq\":{next},\"time\":1,\"required\":true,\"data\":1}}\n"
            ),
            "`acme/must`",
        ),
        ("newer", after.replacen("\"version\":1", "\"version\":2", 1), "format version 2"),
    ] {
        fs::write(rig.log_file(), &changed).unwrap();
        let refused = rig.resume("more");
        assert_eq!(refused.code, Some(1), "{what}");
        assert!(refused.stderr.contains(word), "{what}: {}", refused.stderr);
        let checked = rig.command(["sessions", "check", &id, "--json"]).run();
        assert_eq!(checked.code, Some(1), "{what}");
        assert_eq!(json_line(&checked.stdout)["ok"], false, "{what}");
        let repaired = rig.command(["sessions", "repair", &id]).run();
        assert_eq!(repaired.code, Some(1), "{what}: nothing to repair, but to refuse");
        assert_eq!(fs::read_to_string(rig.log_file()).unwrap(), changed, "{what}: it was rewritten");
    }
}

/// Moves an event one place on, with everything that it cites.
fn shift(line: &str, from: u64) -> String {
    let mut event: Value = serde_json::from_str(line).unwrap();
    let later = |seq: &mut Value| {
        let old = seq.as_u64().unwrap();
        *seq = json!(if old >= from { old + 1 } else { old });
    };
    later(&mut event["seq"]);
    if let Some(sources) = event.get_mut("sources").and_then(Value::as_array_mut) {
        sources.iter_mut().for_each(later);
    }
    event.to_string()
}

#[test]
fn damage_in_the_middle_is_found_repaired_and_reported() {
    let rig = rig([call("c1", "bash", json!({ "command": "echo hi" })), txt("done"), txt("more"), txt("on")]);
    assert_eq!(rig.run("first").code, Some(0));
    assert_eq!(rig.resume("second").code, Some(0));
    let id = rig.session();
    let clean = rig.command(["sessions", "check", &id]).run();
    assert_eq!(clean.code, Some(0), "{}", clean.stdout);
    let text = fs::read_to_string(rig.log_file()).unwrap();
    let at = text.lines().position(|line| line.contains("\"type\":\"tool/result\"")).unwrap();
    let damaged: Vec<_> = text
        .lines()
        .enumerate()
        .map(|(n, line)| if n == at { &line[..line.len() / 2] } else { line })
        .collect();
    let damaged = damaged.join("\n") + "\n";
    fs::write(rig.log_file(), &damaged).unwrap();

    let refused = rig.resume("third");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains(&format!("line {}", at + 1)), "{}", refused.stderr);
    let checked = rig.command(["sessions", "check", "--all", "--json"]).run();
    assert_eq!(checked.code, Some(1));
    let found = json_line(&checked.stdout);
    assert!(
        found["faults"][0]["position"].as_str().unwrap().starts_with(&format!("line {} ", at + 1)),
        "{found}"
    );
    let dry = rig.command(["sessions", "repair", &id, "--dry-run"]).run();
    assert_eq!(dry.code, Some(0));
    assert_eq!(fs::read_to_string(rig.log_file()).unwrap(), damaged, "a dry run wrote");
    let repaired = rig.command(["sessions", "repair", &id]).run();
    assert_eq!(repaired.code, Some(0), "{}", repaired.stderr);
    assert!(repaired.stdout.contains(&format!("lost: line {} ", at + 1)), "{}", repaired.stdout);
    let backup = rig.log_file().with_file_name("damaged-1.jsonl");
    assert_eq!(fs::read_to_string(backup).unwrap(), damaged, "the original is kept");
    assert_eq!(rig.command(["sessions", "check", "--all"]).run().code, Some(0));
    let finished = rig.resume("third");
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let request = rig.request(4)["messages"].to_string();
    assert!(request.contains("first") && request.contains("second") && request.contains("done"), "{request}");
}

#[test]
fn forks_start_with_the_turns_asked_for() {
    let rig = rig([txt("one"), txt("two"), txt("three"), txt("four")]);
    assert_eq!(rig.run("first").code, Some(0));
    let parent = rig.session();
    assert_eq!(rig.run_with("second", ["--resume", &parent]).run().code, Some(0));
    let before = fs::read(rig.log_file()).unwrap();
    let forked = rig.command(["sessions", "fork", &parent, "--at", "1"]).run();
    assert_eq!(forked.code, Some(0), "{}", forked.stderr);
    let fork = forked.stdout.trim().to_owned();
    assert_ne!(fork, parent);
    let log = fs::read_to_string(rig.sessions().join(&fork).join("log.jsonl")).unwrap();
    let header = json_line(&log);
    assert_eq!(header["header"]["parent"], json!(parent));
    assert_eq!(header["header"]["inherited"], json!(log.lines().count() - 1));
    assert_eq!(rig.run_with("other", ["--resume", &fork]).run().code, Some(0));
    let request = rig.request(3)["messages"].to_string();
    assert!(request.contains("first") && !request.contains("second"), "{request}");
    assert_eq!(fs::read(rig.sessions().join(&parent).join("log.jsonl")).unwrap(), before);

    let missing = rig.command(["sessions", "fork", &parent, "--at", "9"]).run();
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("no completed turn 9") && missing.stderr.contains("the last one is 2"));
    let listed = rig.command(["sessions", "list", "--json"]).run();
    let lines: Vec<Value> = listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["parent"], json!(parent), "the newest change is first: {}", listed.stdout);
}

/// A waits; B is refused and told how, forks on demand, and may not delete.
#[test]
fn a_session_in_use_can_be_forked_but_not_removed() {
    let rig = rig([txt("one"), Reply::new().pieces(["half "]).gate("go on").pieces(["done"]), txt("forked")]);
    assert_eq!(rig.run("first").code, Some(0));
    let id = rig.session();
    let waiting = rig.run_with("second", ["--resume", &id]).start();
    rig.block_on(rig.server().wait_for_gate("go on"));
    let refused = rig.run_with("third", ["--resume", &id]).run();
    assert_eq!(refused.code, Some(1));
    let pid = format!("in use by pid {}", waiting.pid());
    assert!(refused.stderr.contains(&pid) && refused.stderr.contains("--fork"), "{}", refused.stderr);
    let kept = rig.command(["sessions", "rm", &id]).run();
    assert_eq!(kept.code, Some(1));
    assert!(kept.stderr.contains("in use"), "{}", kept.stderr);

    let forked = rig.run_with("third", ["--resume", &id, "--fork"]).run();
    assert_eq!(forked.code, Some(0), "{}", forked.stderr);
    assert!(forked.stderr.contains("goes on in a fork"), "{}", forked.stderr);
    let request = rig.request(3)["messages"].to_string();
    assert!(
        request.contains("first") && !request.contains("second") && request.contains("third"),
        "{request}"
    );
    rig.server().release("go on");
    assert_eq!(waiting.wait().code, Some(0));
    assert_eq!(rig.command(["sessions", "check", "--all"]).run().code, Some(0));

    assert_eq!(rig.run_with("new", ["--fork"]).run().code, Some(2), "there is nothing to fork");
    assert_eq!(rig.run_with("both", ["--continue", "--resume", &id]).run().code, Some(2));

    let ids = rig.session_ids();
    assert_eq!(ids.len(), 2);
    let removed = rig.command(["sessions", "rm"]).args(&ids).run();
    assert_eq!((removed.code, removed.stdout.lines().count()), (Some(0), 2), "{}", removed.stderr);
    assert!(rig.session_ids().is_empty());
}

/// Two calls in one answer, killed when only the first has finished.
#[test]
fn a_kill_between_two_calls_answers_each_once() {
    let rig = Rig::new(
        env!("CARGO_BIN_EXE_harness"),
        [
            Reply::new()
                .call(
                    harness_llm_mock::ToolCall::new("bash", json!({ "command": "echo fine" }).to_string())
                        .id("c1"),
                )
                .call(
                    harness_llm_mock::ToolCall::new(
                        "bash",
                        json!({ "command": "touch started; sleep 3051" }).to_string(),
                    )
                    .id("c2"),
                ),
            txt("resumed"),
            txt("again"),
        ],
    );
    let started = rig.run_with("go", []).start();
    wait_until("the second call runs and the first is answered", || {
        let there = rig.workspace().join("started").exists();
        (there
            && fs::read_to_string(rig.log_file()).is_ok_and(|log| log.contains("\"type\":\"tool/result\"")))
        .then_some(())
    });
    started.kill();
    for pid in harness_testkit::processes("sleep 3051") {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
    }
    assert_eq!(rig.resume("next").code, Some(0));
    let results = rig.tool_results(2);
    assert_eq!(results.len(), 2, "each call has one answer");
    assert!(results[0].contains("fine") && results[1].contains("nterrupted"), "{results:?}");
    let request = rig.request(2);
    assert_eq!(request["messages"].as_array().unwrap().last().unwrap()["content"], "next");
    assert_eq!(rig.resume("once more").code, Some(0));
    assert_eq!(rig.tool_results(3).len(), 2, "a second resume mends nothing");
}
