//! Phase 6: accept, replace content, replace value, block.
use harness_llm::Block;
use harness_tools::{PostExecute, PostToolDecision, PreExecute, PreToolDecision};
use serde_json::json;

use crate::fixture::{Journal, Output, Probe, Rig, code, context, contexts, failure, shown};

/// A body that defers a context and echoes, or fails when told to.
fn deferring(journal: &Journal) -> Probe {
    Probe::acting(journal, |input, run| async move {
        run.defer_context(context("deferred"));
        if input.text == "fail" { Err(failure("BROKEN")) } else { Ok(Output { text: input.text }) }
    })
}

fn decide(rig: &Rig, decision: impl Fn() -> PostToolDecision + Send + Sync + 'static) {
    rig.agent.around::<PostExecute, _>(move |_, _| {
        let decision = decision();
        async move { Ok(decision) }
    });
}

#[tokio::test]
async fn accept_keeps_the_result_and_adds_contexts_after_the_deferred_ones() {
    let rig = Rig::with(deferring).await;
    decide(&rig, || PostToolDecision::Accept { contexts: vec![context("decided")] });
    let outcome = rig.call("a").await;
    assert_eq!(shown(&outcome), "shown a");
    assert_eq!(contexts(&outcome), ["deferred", "decided"]);
    rig.end().await;
}

#[tokio::test]
async fn replaced_content_keeps_the_value() {
    let rig = Rig::with(deferring).await;
    decide(&rig, || PostToolDecision::AcceptContent {
        content: vec![Block::text("shorter")],
        contexts: vec![context("decided")],
    });
    let outcome = rig.call("a").await;
    assert_eq!(shown(&outcome), "shorter");
    assert_eq!(outcome.value.as_deref(), Some(&json!({ "text": "a" })));
    assert_eq!(outcome.meta, Some(json!({ "length": 1 })));
    assert_eq!(contexts(&outcome), ["deferred", "decided"]);
    rig.end().await;
}

#[tokio::test]
async fn replaced_content_does_not_turn_a_failure_into_a_success() {
    let rig = Rig::with(deferring).await;
    decide(&rig, || PostToolDecision::AcceptContent {
        content: vec![Block::text("all is well")],
        contexts: Vec::new(),
    });
    let outcome = rig.call("fail").await;
    assert_eq!((shown(&outcome).as_str(), code(&outcome).as_str()), ("all is well", "BROKEN"));
    rig.end().await;
}

#[tokio::test]
async fn a_replaced_value_is_validated_and_rendered_again() {
    let rig = Rig::with(deferring).await;
    decide(&rig, || PostToolDecision::AcceptValue {
        value: json!({ "text": "replaced" }),
        contexts: vec![context("decided")],
    });
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.count("render:replaced"), 1);
    assert_eq!(shown(&outcome), "shown replaced");
    assert_eq!(outcome.value.as_deref(), Some(&json!({ "text": "replaced" })));
    assert_eq!(outcome.meta, Some(json!({ "length": 8 })));
    assert_eq!(contexts(&outcome), ["deferred", "decided"]);
    rig.end().await;
}

#[tokio::test]
async fn a_replaced_value_decides_whether_the_turn_ends() {
    let rig = Rig::new().await;
    assert!(rig.call("last").await.concludes_turn);
    decide(&rig, || PostToolDecision::AcceptValue { value: json!({ "text": "more" }), contexts: Vec::new() });
    assert!(!rig.call("last").await.concludes_turn);
    rig.end().await;
}

#[tokio::test]
async fn a_replaced_value_that_does_not_fit_is_an_error() {
    let rig = Rig::with(deferring).await;
    decide(&rig, || PostToolDecision::AcceptValue {
        value: json!({ "text": 7 }),
        contexts: vec![context("decided")],
    });
    let outcome = rig.call("a").await;
    assert_eq!(code(&outcome), "INVALID_TOOL_OUTPUT");
    assert!(outcome.value.is_none() && outcome.meta.is_none(), "nothing of the old value is left");
    assert_eq!(contexts(&outcome), ["deferred", "decided"]);
    rig.end().await;
}

#[tokio::test]
async fn a_value_can_stand_in_for_a_failure_but_not_for_a_denial() {
    let value =
        || PostToolDecision::AcceptValue { value: json!({ "text": "stand-in" }), contexts: Vec::new() };
    let rig = Rig::with(deferring).await;
    decide(&rig, value);
    let outcome = rig.call("fail").await;
    assert_eq!((code(&outcome).as_str(), shown(&outcome).as_str()), ("ok", "shown stand-in"));
    rig.end().await;

    let rig = Rig::with(deferring).await;
    decide(&rig, value);
    rig.agent.around::<PreExecute, _>(|_, _| async { Ok(PreToolDecision::deny("out of bounds")) });
    let outcome = rig.call("a").await;
    assert_eq!(code(&outcome), "LISTENER_FAILED");
    assert!(shown(&outcome).contains("out of bounds"), "{}", shown(&outcome));
    rig.end().await;
}

#[tokio::test]
async fn a_value_for_an_unknown_tool_has_nothing_to_be_checked_by() {
    let rig = Rig::bare().await;
    decide(&rig, || PostToolDecision::AcceptValue { value: json!({ "text": "b" }), contexts: Vec::new() });
    assert_eq!(code(&rig.call("a").await), "UNKNOWN_TOOL");
    rig.end().await;
}

#[tokio::test]
async fn block_withholds_the_result_and_drops_what_the_tool_deferred() {
    let rig = Rig::with(deferring).await;
    decide(&rig, || PostToolDecision::Block {
        feedback: "run the formatter first".to_owned(),
        contexts: vec![context("decided")],
    });
    let outcome = rig.call("last").await;
    assert_eq!(
        (code(&outcome).as_str(), shown(&outcome).as_str()),
        ("BLOCKED", "Error: run the formatter first")
    );
    assert!(outcome.value.is_none() && outcome.meta.is_none() && !outcome.concludes_turn);
    assert_eq!(contexts(&outcome), ["decided"]);
    rig.end().await;
}

/// Deferred contexts are facts about what happened: a listener that fails does not erase them.
#[tokio::test]
async fn contexts_survive_a_failing_listener() {
    let rig = Rig::with(deferring).await;
    rig.agent.around::<PostExecute, _>(|_, _| async { Err(harness_tools::ListenerError::new("no")) });
    assert_eq!(contexts(&rig.call("a").await), ["deferred"]);
    rig.end().await;
}
