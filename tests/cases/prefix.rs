//! H16: the prefix of a session's requests never changes.
use harness_llm_mock::txt;
use serde_json::json;
use serde_json::value::RawValue;

use crate::{call, rig};

/// The parts of a request that must stay, as the bytes that were sent.
#[derive(serde::Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
    #[serde(borrow)]
    tools: &'a RawValue,
}

#[test]
fn each_request_starts_with_the_one_before() {
    let mut replies = Vec::new();
    for turn in 1..=4 {
        replies.push(call(&format!("c{turn}"), "bash", json!({ "command": format!("echo {turn}") })));
        replies.push(txt(format!("turn {turn}")));
    }
    let rig = rig(replies);
    rig.file("AGENTS.md", "Be kind.\n");
    assert_eq!(rig.run("turn 1").code, Some(0));
    for turn in 2..=4 {
        assert_eq!(rig.resume(&format!("turn {turn}")).code, Some(0));
    }
    let requests = rig.server().requests();
    assert_eq!(requests.len(), 8);
    let bodies: Vec<Body<'_>> =
        requests.iter().map(|request| serde_json::from_slice(request.body()).unwrap()).collect();
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        assert_eq!(before.tools.get(), after.tools.get());
        // Byte for byte: without its closing bracket, the earlier list is the beginning of the later one.
        let before = before.messages.get().strip_suffix(']').unwrap();
        assert!(after.messages.get().starts_with(&format!("{before},")), "{before}\n{}", after.messages);
    }
    let request = rig.request(1);
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("Be kind."), "AGENTS.md is in the prompt");
    for volatile in [rig.root().to_str().unwrap(), "2026", "2027"] {
        assert!(!system.contains(volatile), "{volatile} is in the system prompt");
        assert!(!bodies[0].tools.get().contains(volatile), "{volatile} is in the tools");
    }
}

/// Forty steps, a resume in the middle of them: each request begins with the one before it, byte for byte.
#[test]
fn forty_steps_and_a_resume_keep_the_prefix() {
    let replies = (1..=42).map(|n| match n {
        20 | 42 => txt(format!("step {n}")),
        n => call(&format!("c{n}"), "bash", json!({ "command": format!("echo {n}") })),
    });
    let rig = rig(replies);
    rig.file("AGENTS.md", "Be kind.\n");
    assert_eq!(rig.run("first").code, Some(0));
    assert_eq!(rig.resume("second").code, Some(0));
    let requests = rig.server().requests();
    assert_eq!(requests.len(), 42);
    let prefix = |request: &harness_llm_mock::RecordedRequest| {
        let body = String::from_utf8(request.body().to_vec()).unwrap();
        let parsed: Body<'_> = serde_json::from_str(&body).unwrap();
        // The rendered prompt: tools, then the messages without the closing bracket.
        format!("{}{}", parsed.tools.get(), parsed.messages.get().strip_suffix(']').unwrap())
    };
    let prefixes: Vec<String> = requests.iter().map(prefix).collect();
    for (n, pair) in prefixes.windows(2).enumerate() {
        assert!(pair[1].starts_with(&pair[0]), "request {} does not begin with request {}", n + 2, n + 1);
    }
}

/// Two sessions of one composition are told the same, byte for byte.
#[test]
fn two_sessions_have_the_same_system_prompt_and_tools() {
    let rig = rig([txt("1"), txt("2")]);
    assert_eq!(rig.run("a").code, Some(0));
    assert_eq!(rig.run("b").code, Some(0));
    let (first, second) = (rig.request(1), rig.request(2));
    assert_eq!(first["tools"].to_string(), second["tools"].to_string());
    assert_eq!(first["messages"][0], second["messages"][0]);
}
