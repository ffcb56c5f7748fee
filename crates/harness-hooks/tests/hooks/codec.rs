//! K1: four kinds of stdout × four exit codes × five events, and what must not break anything.
use std::fmt::Write as _;

use harness_hooks::{Answer, Ended, Fault, HookEvent, OnError, Profile, Reading, decode};

const OUTPUTS: [(&str, &str); 4] = [
    ("empty", ""),
    ("text", "plain words"),
    ("object", r#"{"systemMessage":"told","hookSpecificOutput":{"additionalContext":"known"}}"#),
    ("misfit", r#"{"continue":"perhaps"}"#),
];
const EVENTS: [HookEvent; 5] = [
    HookEvent::PreToolUse,
    HookEvent::PostToolUse,
    HookEvent::UserPromptSubmit,
    HookEvent::Stop,
    HookEvent::SessionStart,
];

fn line(result: &Result<Answer, Fault>) -> String {
    match result {
        Err(fault) => format!("{}: {fault}", fault.code()),
        Ok(answer) => {
            let mut facts = Vec::new();
            if let Some(decision) = answer.decision {
                facts.push(format!("{decision:?} ({})", answer.reason.as_deref().unwrap_or("no reason")));
            }
            facts.extend(answer.contexts.iter().map(|text| format!("context `{text}`")));
            facts.extend(answer.messages.iter().map(|text| format!("message `{text}`")));
            if facts.is_empty() { "nothing".to_owned() } else { facts.join(", ") }
        }
    }
}

fn matrix(profile: Profile) -> String {
    let mut out = String::new();
    for event in EVENTS {
        for (kind, stdout) in OUTPUTS {
            for code in [0, 1, 2, 127] {
                let reading = Reading { profile, ..Reading::default() };
                let result = decode(event, reading, Ended { code, stdout, stderr: "first\nsecond\n" });
                writeln!(out, "{:16} {kind:6} {code:3}  {}", event.name(), line(&result)).unwrap();
            }
        }
    }
    out
}

#[test]
fn k01_exit_code_and_stdout_are_read_together_in_the_claude_profile() {
    insta::assert_snapshot!(matrix(Profile::Claude));
}

#[test]
fn k01_json_counts_on_exit_0_only_in_the_native_profile() {
    insta::assert_snapshot!(matrix(Profile::Native));
}

fn claude(event: HookEvent, code: i32, stdout: &str, stderr: &str) -> Result<Answer, Fault> {
    decode(event, Reading::default(), Ended { code, stdout, stderr })
}

#[test]
fn k01_exit_2_blocks_whatever_stdout_says() {
    let allow = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    for stdout in ["", allow, "{ broken", r#"{"decision":"deny"}"#] {
        let answer = claude(HookEvent::PreToolUse, 2, stdout, "").unwrap();
        assert_eq!(line(&Ok(answer)), "Deny (blocked by hook)", "{stdout}");
    }
    let both = claude(HookEvent::PreToolUse, 2, r#"{"decision":"block","reason":"json"}"#, "stderr").unwrap();
    assert_eq!(both.reason.as_deref(), Some("json"));
}

#[test]
fn what_is_tolerated_breaks_nothing() {
    let tolerated = [
        "{}",
        r#"{"metrics":{"n":1},"hookSpecificOutput":{"hookEventName":"PreToolUse","later":true}}"#,
        r#"{"suppressOutput":true,"continue":true}"#,
        "\u{feff}{}",
        "\n\n  {\r\n  \"continue\": true\r\n}\r\n",
        r#"{"decision":null,"reason":null,"hookSpecificOutput":null}"#,
    ];
    for stdout in tolerated {
        let answer = claude(HookEvent::PreToolUse, 0, stdout, "").expect(stdout);
        assert_eq!(line(&Ok(answer)), "nothing", "{stdout}");
    }
}

#[test]
fn a_byte_order_mark_and_blank_lines_hide_no_decision() {
    for stdout in [
        "\u{feff}{\"decision\":\"block\",\"reason\":\"no\"}",
        "\n \r\n{\"decision\":\"block\",\r\n\"reason\":\"no\"}\n",
    ] {
        let answer = claude(HookEvent::PreToolUse, 0, stdout, "").unwrap();
        assert_eq!(line(&Ok(answer)), "Deny (no)", "{stdout}");
    }
}

#[test]
fn a_decision_that_no_contract_knows_is_a_fault_unless_it_is_to_deny() {
    let stdout = r#"{"decision":"deny","reason":"no"}"#;
    assert_eq!(claude(HookEvent::PreToolUse, 0, stdout, "").unwrap_err().code(), "HOOK_SCHEMA");
    let strict = Reading { invalid_decision: OnError::Block, ..Reading::default() };
    let answer = decode(HookEvent::PreToolUse, strict, Ended { code: 0, stdout, stderr: "" }).unwrap();
    assert_eq!(line(&Ok(answer)), "Deny (no)");
}

#[test]
fn a_block_for_another_event_is_discarded_alone() {
    let stdout = r#"{"systemMessage":"kept","hookSpecificOutput":
        {"hookEventName":"PostToolUse","permissionDecision":"deny"}}"#;
    let answer = claude(HookEvent::PreToolUse, 0, stdout, "").unwrap();
    assert_eq!((answer.decision, answer.messages.len(), answer.remarks.len()), (None, 1, 1));
}
