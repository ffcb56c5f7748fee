//! History is kept within the context window.
use std::fmt::Write as _;

use harness_llm_mock::{RecordedRequest, Reply, Script, WhenExhausted, txt};
use harness_testkit::{Invocation, Rig};
use serde_json::{Value, json};

use crate::call;

const WINDOW: u64 = 32 * 1024;
/// How the request for a summary begins.
const ASKED: &str = "Summarise this conversation so far.";

fn rig(script: Script) -> Rig {
    Rig::with_script(env!("CARGO_BIN_EXE_harness"), script)
}
fn windowed(run: Invocation) -> Invocation {
    run.env("HARNESS_COMPACT_CONTEXT_WINDOW", WINDOW.to_string())
}
fn logged(rig: &Rig, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(rig.log_file()).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["type"] == name).map(|event| event["data"].clone()).collect()
}
fn is_summary(request: &RecordedRequest) -> bool {
    request.last_message_text().starts_with(ASKED)
}
/// Text without repetition, so many bytes.
fn filler(seed: usize, bytes: usize) -> String {
    let mut text = String::new();
    for n in 0.. {
        if text.len() >= bytes {
            break;
        }
        let _ = write!(text, "fact {seed}.{n} is {}; ", seed * 7919 + n * 104_729);
    }
    text
}

/// Sixty turns, each with a tool call and some thousand tokens: the window is reached several times.
#[test]
fn sixty_turns_fit_into_a_small_window() {
    let summary = txt("## Task\nThe summary of the work.\n## State\nAll facts are noted.")
        .when_last_message_contains(ASKED)
        .times(60);
    let mut replies = vec![summary];
    for turn in 1..=60 {
        replies.push(call(
            &format!("c{turn}"),
            "bash",
            json!({ "command": format!("cat facts-{turn}.txt") }),
        ));
        replies.push(txt(format!("Turn {turn} is done. {}", filler(turn, 600))));
    }
    let rig = rig(Script::new(replies).context_window(WINDOW));
    rig.file("AGENTS.md", "ALWAYS-BE-KIND is the rule of this project.\n");
    let mut id = String::new();
    for turn in 1..=60 {
        rig.file(&format!("facts-{turn}.txt"), filler(turn, 6000));
        let task =
            format!("Do turn {turn}. {}", if turn == 1 { "FIRST-WISH: keep the names short." } else { "" });
        let run = if turn == 1 { rig.run_with(&task, []) } else { rig.run_with(&task, ["--resume", &id]) };
        let finished = windowed(run).run();
        assert_eq!(finished.code, Some(0), "turn {turn}: {}", finished.stderr);
        if turn == 1 {
            id = rig.session();
        }
    }
    let requests = rig.server().requests();
    for request in &requests {
        assert!(request.tokens() <= WINDOW, "request {} has {} tokens", request.number(), request.tokens());
        let system = request.messages()[0]["content"].as_str().unwrap();
        assert!(system.contains("ALWAYS-BE-KIND"), "request {} lost its instructions", request.number());
        let all = String::from_utf8_lossy(request.body());
        assert!(all.contains("FIRST-WISH"), "request {} lost what the person asked", request.number());
        assert!(all.contains("Working folder: "), "request {} lost its surroundings", request.number());
    }
    let compactions = logged(&rig, "compact/begin").len();
    assert!(compactions >= 2, "{compactions} compactions");
    let ends = logged(&rig, "compact/end");
    assert_eq!(ends.len(), compactions, "each bracket is closed");
    assert!(ends.iter().all(|end| end["outcome"]["kind"] == "done"), "{ends:#?}");
    let steps: Vec<_> = requests.iter().filter(|request| !is_summary(request)).collect();
    assert_eq!(steps.len(), 120, "each step needs one request: nothing was refused or lost");

    // A summary request reuses the prefix: the messages before its instruction are those of the request before it,
    // as the same bytes.
    for (before, after) in requests.iter().zip(&requests[1..]) {
        if is_summary(after) && !is_summary(before) {
            let (old, new) = (before.json().unwrap(), after.json().unwrap());
            assert_eq!(old["tools"].to_string(), new["tools"].to_string());
            let kept = after.messages().len() - 1;
            assert!(kept > 2 && kept <= before.messages().len() + 3);
            let shared = kept.min(before.messages().len());
            assert_eq!(
                Value::from(old["messages"].as_array().unwrap()[..shared].to_vec()).to_string(),
                Value::from(after.messages()[..shared].to_vec()).to_string()
            );
        }
    }
    // People still see everything.
    let shown = rig.command(["sessions", "show", &id]).run();
    assert!(shown.stdout.contains("Do turn 1.") && shown.stdout.contains("Turn 60 is done."));
    assert!(!shown.stdout.contains("were replaced by this summary"), "a replacement is not what was said");
}

/// The server refuses a request as too long: compaction recovers within the same step.
#[test]
fn a_refused_request_is_compacted_and_made_again() {
    let summary = txt("Short summary.").when_last_message_contains(ASKED).times(5);
    let mut replies = vec![summary];
    for turn in 1..=3 {
        replies.push(txt(format!("Turn {turn}: {}", filler(turn, 46_000))));
    }
    replies.push(txt("The end."));
    // Nobody tells the program how large the window is.
    let rig = rig(Script::new(replies).context_window(WINDOW));
    assert_eq!(rig.run("turn 1").code, Some(0));
    assert_eq!(rig.resume("turn 2").code, Some(0));
    assert_eq!(rig.resume("turn 3").code, Some(0));
    let finished = rig.resume("turn 4");
    assert_eq!(finished.code, Some(0), "{}\n{}", finished.stderr, rig.story());
    assert_eq!(logged(&rig, "compact/begin").last().unwrap()["trigger"], "overflow");
    assert!(rig.story().contains("assistant/message The end."));
    assert_eq!(rig.story().matches("turn/start").count(), 4, "it was the same turn");
}

/// Two recoveries that save nothing end the turn loudly; the history is as it was.
#[test]
fn a_summary_that_does_not_shrink_stops_loudly() {
    let summary = txt(format!("Endless: {}", filler(9, 120_000))).when_last_message_contains(ASKED).times(10);
    let mut replies = vec![summary];
    for turn in 1..=3 {
        replies.push(txt(format!("Turn {turn}: {}", filler(turn, 35_000))));
    }
    let script = Script::new(replies).when_exhausted(WhenExhausted::Error);
    let rig = rig(script);
    for turn in 1..=3 {
        let task = format!("turn {turn}");
        let run = if turn == 1 {
            rig.run_with(&task, [])
        } else {
            let id = rig.session();
            rig.run_with(&task, ["--resume", &id])
        };
        assert_eq!(windowed(run).run().code, Some(0));
    }
    let asked = |rig: &Rig| rig.server().requests().iter().filter(|request| is_summary(request)).count();
    assert_eq!(asked(&rig), 0);
    let id = rig.session();
    let finished = windowed(rig.run_with("turn 4", ["--resume", &id])).run();
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(finished.stderr.contains("CONTEXT_NOT_COMPACTED"), "{}", finished.stderr);
    assert!(finished.stderr.contains("did not shrink"), "{}", finished.stderr);
    assert_eq!(asked(&rig), 2, "two attempts, then it stops");
    assert!(rig.story().contains("turn/end 4 error CONTEXT_NOT_COMPACTED"), "{}", rig.story());
    let ends = logged(&rig, "compact/end");
    assert!(ends.iter().all(|end| end["outcome"]["code"] == "COMPACT_NOT_SMALLER"), "{ends:?}");
    assert!(!rig.story().contains("[compact]"), "nothing was replaced");
}

/// On request, before a turn.
#[test]
fn history_is_compacted_on_request() {
    let rig = rig(Script::new([
        txt(filler(1, 8000)),
        txt(filler(2, 8000)),
        txt("Notes of two turns.").when_last_message_contains(ASKED),
        txt("third"),
    ]));
    assert_eq!(rig.run("turn 1").code, Some(0));
    assert_eq!(rig.resume("turn 2").code, Some(0));
    let id = rig.session();
    let finished = rig.run_with("turn 3", ["--resume", &id, "--compact"]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("history compacted"), "{}", finished.stderr);
    let last = rig.request(4);
    let said: Vec<_> =
        last["messages"].as_array().unwrap().iter().map(|message| message["content"].to_string()).collect();
    assert!(said.iter().any(|text| text.contains("Notes of two turns.")), "{said:#?}");
    assert!(!said.iter().any(|text| text.contains("fact 1.1 is")), "the old answers are gone");
    assert!(said.iter().any(|text| text.contains("turn 1")), "what was asked is kept");
    // The summary is paid for, and counted.
    assert_eq!(logged(&rig, "llm/usage").len(), 1);
    // A new session has nothing to compact, and says so.
    let none = rig.run_with("turn 3", ["--compact"]).run();
    assert!(none.stderr.contains("no older history"), "{}", none.stderr);
}

/// A process that dies in the middle of a compaction leaves the old history.
#[test]
fn a_crash_in_the_middle_leaves_the_old_history() {
    let waiting = Reply::new().gate("summary").pieces(["late"]).when_last_message_contains(ASKED);
    let rig = rig(Script::new([txt(filler(1, 8000)), txt(filler(2, 8000)), waiting, txt("third")]));
    assert_eq!(rig.run("turn 1").code, Some(0));
    assert_eq!(rig.resume("turn 2").code, Some(0));
    let id = rig.session();
    let started = rig.run_with("turn 3", ["--resume", &id, "--compact"]).start();
    rig.block_on(rig.server().wait_for_gate("summary"));
    started.kill();
    let finished = rig.run_with("turn 3", ["--resume", &id]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let last = rig.server().requests().last().unwrap().clone();
    let body = String::from_utf8_lossy(last.body()).into_owned();
    assert!(body.contains("fact 1.1 is") && body.contains("fact 2.1 is"), "the old history is whole");
}

/// Before a model is asked for a summary, the middle of long results goes; the newest stay whole.
#[test]
fn long_results_are_pruned_first() {
    let mut replies = Vec::new();
    for turn in 1..=6 {
        replies.push(call(&format!("c{turn}"), "bash", json!({ "command": format!("cat long-{turn}.txt") })));
        replies.push(txt(format!("Turn {turn}.")));
    }
    let rig = rig(Script::new(replies).context_window(WINDOW));
    for turn in 1..=6 {
        rig.file(&format!("long-{turn}.txt"), filler(turn, 24_000));
        let task = format!("turn {turn}");
        let id = rig.session_ids().pop();
        let resume = id.iter().flat_map(|id| ["--resume", id]);
        let finished = windowed(rig.run_with(&task, resume)).run();
        assert_eq!(finished.code, Some(0), "turn {turn}: {}", finished.stderr);
    }
    assert!(!logged(&rig, "compact/pruned").is_empty());
    assert!(logged(&rig, "compact/begin").is_empty(), "that was enough");
    let results = rig.tool_results(12);
    assert!(
        results[0].contains("were taken out to save space") && results[0].len() < 8000,
        "{}",
        results[0].len()
    );
    assert!(results[5].len() >= 24_000, "the newest is whole");
    assert!(rig.server().requests().iter().all(|request| request.tokens() <= WINDOW));
}

/// A provider that refuses whatever is sent: two recoveries, each judged by what it saved, then a loud stop.
#[test]
fn refusals_without_end_stop_loudly() {
    let mut replies = vec![txt("Short summary.").when_last_message_contains(ASKED).times(20)];
    for turn in 1..=3 {
        replies.push(txt(format!("Turn {turn}: {}", filler(turn, 8000))));
    }
    replies.push(Reply::error(400, "This model's maximum context length is 10 tokens.").times(20));
    let rig = rig(Script::new(replies));
    assert_eq!(rig.run("turn 1").code, Some(0));
    assert_eq!(rig.resume("turn 2").code, Some(0));
    assert_eq!(rig.resume("turn 3").code, Some(0));
    let finished = rig.resume("turn 4");
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(finished.stderr.contains("CONTEXT_NOT_COMPACTED"), "{}", finished.stderr);
    assert!(finished.stderr.contains("maximum context length"), "the refusal is quoted: {}", finished.stderr);
    let overflows =
        logged(&rig, "compact/begin").iter().filter(|begin| begin["trigger"] == "overflow").count();
    assert!((1..=2).contains(&overflows), "{overflows} recoveries");
    let refused = rig.server().requests().iter().skip(3).filter(|request| !is_summary(request)).count();
    assert!(refused <= 3, "{refused} requests were refused");
    assert!(rig.story().contains("turn/end 4 error CONTEXT_NOT_COMPACTED"), "{}", rig.story());
}

/// The call for a summary is retried like that of a step; it has a count of its own.
#[test]
fn the_summary_survives_passing_failures() {
    let failing = Reply::error(503, "busy").times(5);
    let mut replies = vec![Reply { when_last_message_contains: Some(ASKED.into()), ..failing.clone() }];
    replies.push(txt("Short summary.").when_last_message_contains(ASKED));
    for turn in 1..=3 {
        replies.push(txt(format!("Turn {turn}: {}", filler(turn, 35_000))));
    }
    replies.push(failing);
    replies.push(txt("The end."));
    let rig = rig(Script::new(replies));
    let run = |turn: usize| {
        let id = rig.session_ids().pop();
        let resume = id.iter().flat_map(|id| ["--resume", id]);
        let run = windowed(rig.run_with(&format!("turn {turn}"), resume));
        run.env("HARNESS_RETRY_MAX_RETRIES", "5").env("HARNESS_RETRY_BASE_DELAY_MS", "1").run()
    };
    for turn in 1..=3 {
        assert_eq!(run(turn).code, Some(0));
    }
    let finished = run(4);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(logged(&rig, "compact/begin").len(), 1, "the first attempt came through");
    assert_eq!(logged(&rig, "llm/retry").len(), 10);
    assert!(rig.story().contains("assistant/message The end."));
}
