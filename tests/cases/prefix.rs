//! H16: the prefix of a session's requests never changes.
use harness_llm_mock::txt;
use serde_json::{Value, json};

use crate::{call, rig};

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
    let bodies: Vec<String> =
        requests.iter().map(|request| String::from_utf8(request.body().to_vec()).unwrap()).collect();
    let part = |body: &str, key: &str| serde_json::from_str::<Value>(body).unwrap()[key].clone();
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        assert_eq!(part(before, "tools").to_string(), part(after, "tools").to_string());
        // Byte for byte: up to the end of its messages, the earlier body is the beginning of the later one.
        let messages = before.find("\"messages\":[").unwrap();
        let end = before[messages..].rfind("}]").map(|at| messages + at + 1);
        let all = part(before, "messages").as_array().unwrap().len();
        let same: Vec<_> = part(after, "messages").as_array().unwrap()[..all].to_vec();
        assert_eq!(part(before, "messages"), Value::Array(same));
        assert!(end.is_some());
    }
    let raw = |body: &str| {
        let start = body.find("\"messages\":[").unwrap() + "\"messages\":[".len();
        body[start..].to_owned()
    };
    for (before, after) in bodies.iter().zip(&bodies[1..]) {
        let (before, after) = (raw(before), raw(after));
        let shared = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let messages = before.find("],\"").unwrap_or(before.len());
        assert!(
            shared + 1 >= messages.min(before.len()) || before[shared..].starts_with(']'),
            "bytes differ at {shared}"
        );
    }
    let system = part(&bodies[0], "messages")[0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("Be kind."), "AGENTS.md is in the prompt");
    for volatile in [rig.root().to_str().unwrap(), "2026", "2027"] {
        assert!(!system.contains(volatile), "{volatile} is in the system prompt");
        assert!(!part(&bodies[0], "tools").to_string().contains(volatile), "{volatile} is in the tools");
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
