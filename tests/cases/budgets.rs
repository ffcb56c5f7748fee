//! Use, cost and budgets, from the wire to the last line.
use harness_llm_mock::{Reply, TokenReport, TokenUsage, txt};
use serde_json::{Value, json};

use crate::{call, rig};

fn used(reply: Reply, prompt_tokens: u64, completion_tokens: u64, cached: u64) -> Reply {
    let cached_tokens = Some(cached);
    reply.usage(TokenReport::Exact(TokenUsage {
        prompt_tokens,
        completion_tokens,
        cached_tokens,
        ..TokenUsage::default()
    }))
}
fn step(n: u32) -> Reply {
    used(call(&format!("c{n}"), "bash", json!({ "command": "true" })), 1000, 100, 400)
}
fn prices(rig: &harness_testkit::Rig) {
    let path = rig.home().join(".config/harness/config.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = "[prices.\"openai/mock-model\"]\ninput = 100.0\noutput = 1000.0\ncache_read = 10.0\n";
    std::fs::write(path, text).unwrap();
}
fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn cost_is_told_per_turn_and_session_cached_tokens_apart() {
    let rig = rig([step(1), used(txt("one"), 1100, 50, 1000), used(txt("two"), 2000, 10, 0)]);
    prices(&rig);
    let finished = rig.run_with("go", ["--json"]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let all = lines(&finished.stdout);
    let end = all.last().unwrap();
    // 600 + 100 plain, 1400 cached, 150 out.
    assert_eq!(end["usage"], json!({ "input": 700, "output": 150, "cache_read": 1400 }));
    let usd = end["cost"]["usd"].as_f64().unwrap();
    assert!((usd - 0.234).abs() < 1e-9, "{usd}");
    let logged = all.iter().find(|line| line["type"] == "turn/usage").expect("the log has it");
    assert_eq!(logged["data"]["usage"], end["usage"]);
    assert_eq!(logged["data"]["requests"], 2);

    let id = rig.session();
    let finished = rig.run_with("more", ["--json", "--resume", &id]).run();
    let end = lines(&finished.stdout).pop().unwrap();
    assert!((end["cost"]["usd"].as_f64().unwrap() - 0.21).abs() < 1e-9, "{end}");
    assert!((end["session_cost"]["usd"].as_f64().unwrap() - 0.444).abs() < 1e-9, "{end}");
    assert_eq!(end["session_usage"]["input"], 2700);
    let finished = rig.run_with("more", ["--resume", &id]).run();
    assert_eq!(finished.code, Some(1), "the script is over");
}

#[test]
fn an_unknown_price_is_said_and_never_zero() {
    let rig = rig([used(txt("hi"), 10, 10, 0), txt("ho")]);
    let finished = rig.run("go");
    assert!(
        finished.stderr.contains("cost unknown: no price is known for openai/mock-model"),
        "{}",
        finished.stderr
    );
    let id = rig.session();
    let end = lines(&rig.run_with("go", ["--json", "--resume", &id]).run().stdout).pop().unwrap();
    assert_eq!(end["cost"]["usd"], Value::Null);
    assert!(end["cost"]["unknown"].as_str().unwrap().contains("openai/mock-model"));
}

#[test]
fn a_token_budget_ends_the_turn_cleanly() {
    let rig = rig((1..=5).map(step).chain([txt("rest")]));
    let finished = rig.run_with("go", ["--max-tokens", "2000"]).run();
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert!(finished.stderr.contains("budget of 2000 tokens"), "{}", finished.stderr);
    assert_eq!(rig.server().requests().len(), 2, "1100 tokens each: the second crosses the line");
    let story = rig.story();
    assert!(story.contains("turn/end 1 budget"), "{story}");
    // The next turn has a budget of its own.
    let id = rig.session();
    let finished = rig.run_with("go", ["--max-tokens", "100000", "--resume", &id]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

#[test]
fn a_cost_budget_ends_the_turn_cleanly() {
    let rig = rig((1..=5).map(step));
    prices(&rig);
    // Each step costs 600 × 100 + 400 × 10 + 100 × 1000 = 0.164 dollars.
    let finished = rig.run_with("go", ["--max-cost", "0.30", "--json"]).run();
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    assert_eq!(rig.server().requests().len(), 2);
    let end = lines(&finished.stdout).pop().unwrap();
    assert_eq!(end["reason"], json!({ "kind": "budget", "budget": "cost", "limit": 300_000 }));
    assert!(end["error"]["message"].as_str().unwrap().contains("$0.30"), "{end}");
}

#[test]
fn a_budget_that_cannot_be_kept_is_refused() {
    let free = rig([txt("never")]);
    let finished = free.run_with("go", ["--max-cost", "1"]).run();
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("COST_UNKNOWN"), "{}", finished.stderr);
    assert_eq!(free.server().requests().len(), 0, "nothing was spent");

    let silent = rig([step(1).usage(TokenReport::Omitted), txt("never")]);
    let finished = silent.run_with("go", ["--max-tokens", "100000"]).run();
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("USAGE_UNKNOWN"), "{}", finished.stderr);
    assert_eq!(silent.run_with("go", ["--max-cost", "-1"]).run().code, Some(2));
}
