//! Phase 7: the tool's last word, exactly once for every outcome that a known tool can have.
use harness_kernel::BoxFuture;
use harness_llm::Block;
use harness_tools::{
    Execute, ListenerError, PostExecute, PostToolDecision, PreExecute, PreToolDecision, Prepare, ToolFailure,
    ToolFailureCode, ToolReturn,
};
use serde_json::json;

use crate::fixture::{Journal, Output, Probe, Rig, code, explode, failure, shown};

/// Does what its text says, and says the last word to everything.
fn obedient(journal: &Journal) -> Probe {
    let probe = Probe::acting(journal, |input, run| async move {
        match input.text.as_str() {
            "fail" => Err(failure("BROKEN")),
            "panic" => explode("the body"),
            "wait" => {
                run.cancel_token().cancelled().await;
                Ok(Output { text: input.text })
            }
            _ => Ok(Output { text: input.text }),
        }
    });
    probe.finalizing(|content, is_error| {
        let before: String = content.iter().filter_map(Block::as_text).collect();
        Some(vec![Block::text(format!("{before} [error: {is_error}]"))])
    })
}

type Arrange = fn(&Rig) -> BoxFuture<'static, ()>;
struct Case(&'static str, &'static str, Arrange, &'static str);

fn nothing(_: &Rig) -> BoxFuture<'static, ()> {
    Box::pin(async {})
}

/// Name, arguments, arrangement, expected code.
const CASES: [Case; 17] = [
    Case("success", r#"{"text":"a"}"#, nothing, "ok"),
    Case("tool error", r#"{"text":"fail"}"#, nothing, "BROKEN"),
    Case("panic", r#"{"text":"panic"}"#, nothing, "TOOL_PANICKED"),
    Case("invalid arguments", r#"{"txt":"a"}"#, nothing, "INVALID_ARGS"),
    Case("cut arguments", r#"{"text":"#, nothing, "INVALID_ARGS"),
    Case("denied", r#"{"text":"a"}"#, deny, "DENIED"),
    Case("asked in vain", r#"{"text":"a"}"#, ask, "DENIED"),
    Case("guarded", r#"{"text":"a"}"#, guard, "GUARD_DENIED"),
    Case("guard panics", r#"{"text":"a"}"#, bad_guard, "LISTENER_FAILED"),
    Case("cancelled before", r#"{"text":"a"}"#, cancel_now, "ABORTED_BEFORE_DISPATCH"),
    Case("cancelled during", r#"{"text":"wait"}"#, cancel_soon, "ABORTED"),
    Case("blocked", r#"{"text":"a"}"#, block, "BLOCKED"),
    Case("prepare fails", r#"{"text":"a"}"#, bad_prepare, "LISTENER_FAILED"),
    Case("policy fails", r#"{"text":"a"}"#, bad_policy, "LISTENER_FAILED"),
    Case("wrapper fails", r#"{"text":"a"}"#, bad_wrapper, "LISTENER_FAILED"),
    Case("wrapper answers", r#"{"text":"a"}"#, answer, "TOOL_TIMEOUT"),
    Case("post-execute fails", r#"{"text":"a"}"#, bad_post, "LISTENER_FAILED"),
];

fn deny(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.agent.around::<PreExecute, _>(|_, _| async { Ok(PreToolDecision::deny("no")) });
    nothing(rig)
}
fn ask(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.agent.around::<PreExecute, _>(|_, _| async { Ok(PreToolDecision::Ask { reason: None }) });
    nothing(rig)
}
fn guard(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.tools.guard(&rig.agent, "guard", |_| Some("no".to_owned()));
    nothing(rig)
}
fn bad_guard(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.tools.guard(&rig.agent, "guard", |_| explode("the guard"));
    nothing(rig)
}
fn cancel_now(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.cancel.cancel();
    nothing(rig)
}
fn cancel_soon(rig: &Rig) -> BoxFuture<'static, ()> {
    Box::pin(rig.cancel_once_running())
}
fn block(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.agent.around::<PostExecute, _>(|_, _| async {
        Ok(PostToolDecision::Block { feedback: "no".to_owned(), contexts: Vec::new() })
    });
    nothing(rig)
}
fn bad_prepare(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.agent.around::<Prepare, _>(|_, _| async { Err(ListenerError::new("no")) });
    nothing(rig)
}
fn bad_policy(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.agent.around::<PreExecute, _>(|_, _| async { explode("policy") });
    nothing(rig)
}
fn bad_wrapper(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.agent.around::<Execute, _>(|_, _| async { explode("the wrapper") });
    nothing(rig)
}
fn answer(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.agent.around::<Execute, _>(|_, _| async {
        Ok(ToolReturn::failure(ToolFailure::new(ToolFailureCode::TOOL_TIMEOUT, "late")))
    });
    nothing(rig)
}
fn bad_post(rig: &Rig) -> BoxFuture<'static, ()> {
    rig.agent.around::<PostExecute, _>(|_, _| async { Err(ListenerError::new("no")) });
    nothing(rig)
}

#[tokio::test]
async fn the_tool_has_the_last_word_exactly_once_whatever_happened() {
    for Case(name, arguments, arrange, expected) in CASES {
        let rig = Rig::with(obedient).await;
        let background = tokio::spawn(arrange(&rig));
        let outcome = rig.run(rig.request(arguments)).await;
        background.await.unwrap();
        assert_eq!(code(&outcome), expected, "{name}");
        assert_eq!(rig.journal.count("finalize"), 1, "{name}: {:?}", rig.journal.all());
        assert_eq!(rig.journal.count("result"), 1, "{name}: {:?}", rig.journal.all());
        let is_error = expected != "ok";
        assert!(shown(&outcome).ends_with(&format!("[error: {is_error}]")), "{name}: {}", shown(&outcome));
        assert_eq!(outcome.is_error(), is_error, "{name}: the last word is about content only");
        rig.end().await;
    }
}

/// What the tool may say is taken before policy: a tool that goes away meanwhile still has its last word.
#[tokio::test]
async fn the_last_word_belongs_to_the_tool_that_was_called() {
    let rig = Rig::bare().await;
    let plugin = rig.app.ctx().fork("plugin");
    rig.tools.register(&plugin, Probe::echo(&rig.journal)).unwrap();
    let owner = plugin.clone();
    rig.agent.around::<PreExecute, _>(move |event, next| {
        let owner = owner.clone();
        async move {
            owner.dispose().await.unwrap();
            next.run(event).await
        }
    });
    rig.call("a").await;
    assert_eq!(rig.journal.count("finalize"), 1);
    rig.end().await;
}

#[tokio::test]
async fn an_unknown_tool_has_no_last_word_but_observers_are_told() {
    let rig = Rig::bare().await;
    assert_eq!(code(&rig.call("a").await), "UNKNOWN_TOOL");
    assert_eq!(rig.journal.all(), ["post:UNKNOWN_TOOL", "result:UNKNOWN_TOOL"]);
    rig.end().await;
}

#[tokio::test]
async fn a_last_word_that_panics_is_an_error_and_is_not_asked_for_again() {
    let rig = Rig::with(|journal| {
        Probe::acting(journal, |input, run| async move {
            run.defer_context(crate::fixture::context("kept"));
            Ok(Output { text: input.text })
        })
        .finalizing(|_, _| explode("the last word"))
    })
    .await;
    let outcome = rig.call("last").await;
    assert_eq!(code(&outcome), "TOOL_PANICKED");
    assert!(shown(&outcome).contains("finalize_content"), "{}", shown(&outcome));
    assert!(outcome.value.is_none() && !outcome.concludes_turn);
    assert_eq!(crate::fixture::contexts(&outcome), ["kept"]);
    assert_eq!((rig.journal.count("finalize"), rig.journal.count("result")), (1, 1));
    rig.end().await;
}

#[tokio::test]
async fn the_last_word_keeps_value_and_meta() {
    let rig = Rig::with(obedient).await;
    let outcome = rig.call("a").await;
    assert_eq!(shown(&outcome), "shown a [error: false]");
    assert_eq!(outcome.value.as_deref(), Some(&json!({ "text": "a" })));
    assert_eq!(outcome.meta, Some(json!({ "length": 1 })));
    rig.end().await;
}
