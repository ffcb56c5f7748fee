//! Providers and models: every wire format through the built binary, the catalog, and what servers say.
use harness_llm_mock::{RecordedRequest, Reply, TokenReport, TokenUsage, txt};
use harness_testkit::{Invocation, Rig};
use serde_json::{Value, json};

use crate::{call, rig};

/// A route for each wire format, each at the scripted server.
const ROUTES: [&str; 4] = ["chat", "deepseek", "anthropic", "responses"];

fn settings(rig: &Rig, more: &str) {
    let url = rig.server().base_url();
    let text = format!(
        "[providers.chat]\nbase_url = \"{url}\"\n\
         [providers.deepseek]\nbase_url = \"{url}\"\n\
         [providers.anthropic]\nbase_url = \"{url}\"\n\
         [providers.responses]\nbase_url = \"{url}\"\nprotocol = \"responses\"\n{more}"
    );
    let path = rig.home().join(".config/harness/config.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn run(rig: &Rig, route: &str, args: &[&str]) -> Invocation {
    let model = if route == "anthropic" { "claude-haiku-4-5" } else { "deepseek-v4-pro" };
    rig.command(["run", "go", "--provider", route, "--model", model]).args(args)
}

/// The part of a body that is the conversation: what the next request must start with.
fn history(request: &RecordedRequest) -> String {
    let body = String::from_utf8(request.body().to_vec()).unwrap();
    let start =
        ["\"messages\":[", "\"input\":["].iter().find_map(|mark| body.find(mark).map(|at| at + mark.len()));
    let history = &body[start.unwrap()..];
    let end = history.find("],\"tools\":").unwrap();
    // The last message of the messages format may grow.
    history[..end].trim_end_matches("]}").to_owned()
}

fn before_history(request: &RecordedRequest) -> String {
    let body = String::from_utf8(request.body().to_vec()).unwrap();
    let end = ["\"messages\":[", "\"input\":["].iter().find_map(|mark| body.find(mark));
    body[..end.unwrap()].to_owned()
}

#[test]
fn forty_steps_and_a_resume_keep_the_prefix_in_every_format() {
    for route in ROUTES {
        let replies = (1..=42).map(|n| match n {
            20 | 42 => Reply::new().reasoning(["think ", "more"]).pieces([format!("step {n}")]),
            n => Reply {
                steps: [
                    Reply::new().reasoning([format!("think {n}")]).steps,
                    call(&format!("c{n}"), "bash", json!({ "command": format!("echo {n}") })).steps,
                ]
                .concat(),
                ..Reply::new()
            },
        });
        let rig = rig(replies);
        settings(&rig, "");
        rig.file("AGENTS.md", "Be kind.\n");
        let first = run(&rig, route, &[]).run();
        assert_eq!(first.code, Some(0), "{route}: {}", first.stderr);
        let id = rig.session();
        let second = run(&rig, route, &["--resume", &id]).run();
        assert_eq!(second.code, Some(0), "{route}: {}", second.stderr);
        let requests = rig.server().requests();
        assert_eq!(requests.len(), 42, "{route}");
        for (n, pair) in requests.windows(2).enumerate() {
            assert_eq!(before_history(&pair[0]), before_history(&pair[1]), "{route}: request {}", n + 2);
            let (before, after) = (history(&pair[0]), history(&pair[1]));
            assert!(
                after.starts_with(&before),
                "{route}: request {} does not begin with the one before",
                n + 2
            );
            assert!(after.len() > before.len(), "{route}");
        }
        // Reasoning went back wherever the format has a place for it.
        let last = history(&requests[41]);
        let thoughts = (1..=41).filter(|n| *n != 20 && last.contains(&format!("think {n}"))).count();
        assert_eq!(thoughts, if route == "chat" { 0 } else { 40 }, "{route}: {last}");
    }
}

#[test]
fn each_format_is_spoken_with_its_own_path_and_key() {
    let rig = rig([txt("a"), txt("b"), txt("c"), txt("d")]);
    settings(&rig, "");
    for route in ROUTES {
        let variable = format!("{}_API_KEY", route.to_uppercase());
        let finished = run(&rig, route, &[]).env(&variable, format!("sk-of-{route}")).run();
        assert_eq!(finished.code, Some(0), "{route}: {}", finished.stderr);
    }
    let requests = rig.server().requests();
    let seen: Vec<_> = requests
        .iter()
        .map(|request| {
            let key = request.raw_header("authorization").or_else(|| request.raw_header("x-api-key"));
            (request.path(), key.unwrap_or_default(), request.raw_header("anthropic-version"))
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("/v1/chat/completions", "Bearer sk-of-chat", None),
            ("/v1/chat/completions", "Bearer sk-of-deepseek", None),
            ("/v1/messages", "sk-of-anthropic", Some("2023-06-01")),
            ("/v1/responses", "Bearer sk-of-responses", None),
        ]
    );
}

#[test]
fn tools_run_and_failures_are_told_in_every_format() {
    for route in ROUTES {
        let rig = rig([
            call("c1", "write", json!({ "file_path": "made.txt", "content": "by a model" })),
            txt("made"),
            Reply::error(401, "no such key"),
            Reply::new().pieces(["Let me "]).end(harness_llm_mock::End::Cut),
        ]);
        settings(&rig, "");
        let finished = run(&rig, route, &[]).run();
        assert_eq!(finished.code, Some(0), "{route}: {}", finished.stderr);
        assert_eq!(finished.stdout.trim(), "made", "{route}");
        assert_eq!(rig.bytes("made.txt"), b"by a model", "{route}");
        for (code, said) in [("AUTH", "refused the key"), ("STREAM_CLOSED", "without")] {
            let failed = run(&rig, route, &["--json"]).run();
            assert_eq!(failed.code, Some(1), "{route}: {}", failed.stderr);
            let last: Value = serde_json::from_str(failed.stdout.lines().last().unwrap()).unwrap();
            assert_eq!(last["error"]["code"], code, "{route}: {last}");
            assert!(last["error"]["message"].as_str().unwrap().contains(said), "{route}: {last}");
        }
    }
}

#[test]
fn a_known_model_has_a_price_and_the_settings_have_the_last_word() {
    let used = |reply: Reply| {
        reply.usage(TokenReport::Exact(TokenUsage {
            prompt_tokens: 1_000_000,
            completion_tokens: 100_000,
            cached_tokens: Some(600_000),
            ..TokenUsage::default()
        }))
    };
    for (more, usd) in [
        // 400,000 at 0.435, 600,000 at 0.003625, 100,000 at 0.87 a million.
        ("", 0.174 + 0.002_175 + 0.087),
        ("[prices.\"deepseek/deepseek-v4-pro\"]\ninput = 1.0\noutput = 10.0\n", 1.0 + 1.0),
    ] {
        let rig = rig([used(txt("a"))]);
        settings(&rig, more);
        let finished = run(&rig, "deepseek", &["--json"]).run();
        let last: Value = serde_json::from_str(finished.stdout.lines().last().unwrap()).unwrap();
        let told = last["cost"]["usd"].as_f64().unwrap();
        assert!((told - usd).abs() < 1e-9, "{told} {usd} {last}");
    }
}

#[test]
fn effort_words_are_refused_before_anything_is_sent() {
    let rig = rig([txt("a")]);
    settings(&rig, "[model]\nreasoning_effort = \"enormous\"\n");
    for (route, known) in
        [("deepseek", "low, high, max"), ("anthropic", "low, medium"), ("responses", "xhigh")]
    {
        let finished = run(&rig, route, &[]).run();
        assert_eq!(finished.code, Some(1), "{route}");
        let says = finished.stderr.contains("`enormous`") && finished.stderr.contains(known);
        assert!(says, "{route}: {}", finished.stderr);
    }
    assert!(rig.server().requests().is_empty());
}

#[test]
fn the_list_has_the_catalog_and_the_settings() {
    let rig = rig([]);
    settings(
        &rig,
        "[models.\"chat/mine\"]\ncontext_window = 4096\n[prices.\"chat/mine\"]\ninput = 1\noutput = 2\n",
    );
    let finished = rig.command(["models"]).run();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    for part in
        ["anthropic/claude-haiku-4-5", "deepseek/deepseek-flash", "openai/gpt-5.6", "chat/mine", "4096"]
    {
        assert!(finished.stdout.contains(part), "{part}: {}", finished.stdout);
    }
    let lines = rig.command(["models", "list", "--json", "--provider", "chat"]).run().stdout;
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 1, "{lines}");
    assert_eq!(rows[0]["model"], "mine");
    assert_eq!(rows[0]["price"]["output"], 2.0);
    assert_eq!(rows[0]["has_key"], false);
}

#[test]
fn a_server_is_asked_for_its_models() {
    let rig = rig([]);
    settings(&rig, "");
    for route in ROUTES {
        let finished = rig.command(["models", "check", route]).run();
        assert_eq!((finished.code, finished.stdout.trim()), (Some(0), "mock-model"), "{}", finished.stderr);
    }
    let other = rig.command(["models", "check", "chat", "--model", "no-such"]).run();
    assert_eq!(other.code, Some(1));
    assert!(other.stderr.contains("`no-such` is not among them"), "{}", other.stderr);
    let asked = rig.server().other_requests();
    assert!(asked.iter().all(|request| request.method() == "GET" && request.path() == "/v1/models"));
    assert_eq!(asked.len(), ROUTES.len() + 1);

    let nobody = rig.command(["models", "check", "ollama", "--base-url", "http://127.0.0.1:1"]).run();
    assert_eq!(nobody.code, Some(1));
    assert!(nobody.stderr.contains("cannot connect to 127.0.0.1:1"), "{}", nobody.stderr);
    let keyless = rig.command(["models", "check", "openrouter"]).run();
    assert!(keyless.stderr.contains("OPENROUTER_API_KEY"), "{}", keyless.stderr);
    let unknown = rig.command(["models", "check", "nowhere"]).run();
    assert!(unknown.stderr.contains("`nowhere` is not known"), "{}", unknown.stderr);
}

#[test]
fn settings_that_do_not_fit_a_format_are_refused() {
    for (more, said) in [
        (
            "[providers.x]\nbase_url = \"http://127.0.0.1:1\"\nprotocol = \"messages\"\ncompat = { done_optional = true }\n",
            "providers.x.compat",
        ),
        (
            "[providers.x]\nbase_url = \"http://127.0.0.1:1\"\nencrypted_reasoning = true\n",
            "encrypted_reasoning",
        ),
        ("[providers.x]\nprotocol = \"soap\"\n", "soap"),
        ("[providers.x]\ncompat = { effort = \"loud\" }\n", "loud"),
    ] {
        let rig = rig([]);
        settings(&rig, more);
        let finished = rig.command(["models"]).run();
        assert_eq!(finished.code, Some(1), "{more}");
        assert!(finished.stderr.contains(said), "{more}: {}", finished.stderr);
    }
}
