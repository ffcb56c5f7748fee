//! K9: oracles and proxies.
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use harness_hooks::{Decision, FaultKind, HookEvent, Oracle, Profile, Proxy, Question, Report};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::rig::{Rig, bash, on};

/// Answers always the same and keeps the questions.
struct Model(&'static str, Arc<Mutex<Vec<Question>>>);

#[async_trait]
impl Oracle for Model {
    async fn ask(&self, question: Question, _: CancellationToken) -> Result<String, String> {
        self.1.lock().unwrap().push(question);
        match self.0 {
            "silence" => std::future::pending().await,
            "outage" => Err("status 503".to_owned()),
            words => Ok(words.to_owned()),
        }
    }
}
#[async_trait]
impl Proxy for Model {
    async fn look(&self, task: Question, cancel: CancellationToken) -> Result<String, String> {
        self.ask(task, cancel).await
    }
}

async fn ask(event: HookEvent, words: &'static str, handler: Value) -> (Report, Vec<Question>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let mut rig = Rig::new(Profile::Claude);
    rig.engine.oracle = Some(Arc::new(Model(words, Arc::clone(&asked))));
    rig.engine.proxy = Some(Arc::new(Model(words, Arc::clone(&asked))));
    let report = rig.fire(&on(event, &json!([handler])), event, bash("ls")).await;
    let asked = asked.lock().unwrap().clone();
    (report, asked)
}
fn prompt(text: &str) -> Value {
    json!({ "type": "prompt", "prompt": text, "model": "small", "timeout": 0.2 })
}

#[tokio::test]
async fn k09_the_payload_replaces_its_placeholder_or_follows() {
    let (_, asked) = ask(HookEvent::PreToolUse, r#"{"ok":true}"#, prompt(r"Cost \$5? $ARGUMENTS!")).await;
    assert!(
        asked[0].prompt.starts_with("Cost $5? {") && asked[0].prompt.ends_with("}!"),
        "{}",
        asked[0].prompt
    );
    assert_eq!(asked[0].model.as_deref(), Some("small"));
    let (_, asked) = ask(HookEvent::PreToolUse, r#"{"ok":true}"#, prompt("Fine?")).await;
    assert!(asked[0].prompt.starts_with("Fine?\n\n{\"session_id\""), "{}", asked[0].prompt);
}

#[tokio::test]
async fn k09_yes_no_and_no_in_a_fence() {
    let (report, _) = ask(HookEvent::PreToolUse, r#"{"ok":true}"#, prompt("?")).await;
    assert_eq!((report.outcome.decision, report.outcome.stop), (None, false));
    let (report, _) =
        ask(HookEvent::PreToolUse, "Sure:\n```json\n{\"ok\":false,\"reason\":\"no\"}\n```", prompt("?"))
            .await;
    assert_eq!((report.outcome.decision, report.outcome.stop), (Some(Decision::Deny), true));
    assert_eq!(report.outcome.reason.as_deref(), Some("no"));
    let (report, _) =
        ask(HookEvent::PreToolUse, r#"{"ok":false}"#, json!({ "type": "agent", "prompt": "?" })).await;
    assert_eq!((report.outcome.decision, report.outcome.stop), (Some(Decision::Deny), false));
    assert_eq!(report.outcome.reason.as_deref(), Some("denied by evaluation"));
}

#[tokio::test]
async fn k09_a_no_to_stopping_goes_on_unless_it_is_impossible() {
    let (report, _) = ask(HookEvent::Stop, r#"{"ok":false,"reason":"tests fail"}"#, prompt("?")).await;
    assert_eq!((report.outcome.decision, report.outcome.stop), (Some(Decision::Deny), false));
    let (report, _) =
        ask(HookEvent::Stop, r#"{"ok":false,"reason":"x","impossible":true}"#, prompt("?")).await;
    assert_eq!(report.outcome.decision, None);
}

#[tokio::test]
async fn k09_junk_silence_and_outage_are_told() {
    for (words, kind) in [
        ("I think so", FaultKind::Unparsable),
        (r#"{"ok":"maybe"}"#, FaultKind::Schema),
        ("silence", FaultKind::Timeout),
        ("outage", FaultKind::Http),
    ] {
        let (report, _) = ask(HookEvent::PreToolUse, words, prompt("?")).await;
        assert_eq!(report.runs[0].error.as_ref().unwrap().kind, kind, "{words}");
        assert_eq!((report.outcome.decision, report.warnings().count()), (None, 1));
    }
}

#[tokio::test]
async fn k09_without_a_model_it_is_told() {
    let rig = Rig::new(Profile::Claude);
    let report =
        rig.fire(&on(HookEvent::PreToolUse, &json!([prompt("?")])), HookEvent::PreToolUse, bash("ls")).await;
    assert_eq!(report.runs[0].error.as_ref().unwrap().kind, FaultKind::Unavailable);
}

#[tokio::test]
async fn a_proxy_without_an_agent_runs_its_program() {
    let mut rig = Rig::new(Profile::Native);
    rig.engine.proxy_command =
        Some("printf '%s' \"$HOOK_PROMPT\" > task; cat > seen; echo no >&2; exit 2".to_owned());
    let handler = json!([{ "type": "agent", "prompt": "look at $ARGUMENTS" }]);
    let report = rig.fire(&on(HookEvent::PreToolUse, &handler), HookEvent::PreToolUse, bash("ls")).await;
    assert_eq!(report.outcome.reason.as_deref(), Some("no"));
    assert!(rig.read("task").starts_with("look at {"));
    let seen: Value = serde_json::from_str(&rig.read("seen")).unwrap();
    assert!(seen["prompt"].as_str().unwrap().starts_with("look at {"));
}

#[test]
fn kinds_have_their_own_patience() {
    use harness_hooks::HandlerKind::{Command, Oracle, Proxy};
    let seconds = |kind: harness_hooks::HandlerKind, event| kind.default_timeout(event);
    assert_eq!(seconds(Command, HookEvent::PreToolUse), Duration::from_mins(10));
    assert_eq!(seconds(Command, HookEvent::UserPromptSubmit), Duration::from_secs(30));
    assert_eq!(seconds(Command, HookEvent::SessionEnd), Duration::from_millis(1500));
    assert_eq!(seconds(Oracle, HookEvent::Stop), Duration::from_secs(30));
    assert_eq!(seconds(Proxy, HookEvent::Stop), Duration::from_mins(1));
}
