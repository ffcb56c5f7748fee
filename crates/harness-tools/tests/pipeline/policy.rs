//! Phases 1 to 3: allow, deny, ask, and guards.
use std::collections::BTreeSet;
use std::sync::Arc;

use harness_approval::{Answer, Approval, ApprovalRequest};
use harness_kernel::Order;
use harness_tools::{Execute, PostExecute, PostToolDecision, PreExecute, PreToolDecision, ToolReturn};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Probe, Rig, code, explode, shown};

#[tokio::test]
async fn a_denial_skips_the_body_but_reaches_the_later_phases() {
    let rig = Rig::new().await;
    rig.agent.around::<PreExecute, _>(|_, _| async { Ok(PreToolDecision::deny("not on a Friday")) });
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all(), ["post:DENIED", "finalize:error", "result:DENIED"]);
    assert_eq!(shown(&outcome), "Error: not on a Friday");
    rig.end().await;
}

#[tokio::test]
async fn an_allowed_call_passes_every_phase_in_order() {
    let rig = Rig::new().await;
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all(), ["body:a", "render:a", "post:ok", "finalize:ok", "result:ok"]);
    assert_eq!(shown(&outcome), "shown a");
    assert_eq!(outcome.value.as_deref(), Some(&json!({ "text": "a" })));
    rig.end().await;
}

fn ask(rig: &Rig) {
    rig.agent.around::<PreExecute, _>(|_, _| async {
        Ok(PreToolDecision::Ask { reason: Some("touches production".to_owned()) })
    });
}

#[tokio::test]
async fn a_question_without_an_answerer_denies() {
    let rig = Rig::new().await;
    ask(&rig);
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all(), ["post:DENIED", "finalize:error", "result:DENIED"]);
    assert!(shown(&outcome).contains("touches production"), "{}", shown(&outcome));
    assert!(shown(&outcome).contains("nobody can be asked"), "{}", shown(&outcome));
    rig.end().await;
}

#[tokio::test]
async fn a_call_of_no_session_cannot_ask() {
    let rig = Rig::new().await;
    ask(&rig);
    answered_by(&rig, Says(|| Answer::AllowOnce));
    let mut request = rig.request(r#"{"text":"a"}"#);
    request.session = None;
    let outcome = rig.run(request).await;
    assert_eq!((code(&outcome).as_str(), rig.journal.count("body")), ("DENIED", 0));
    rig.end().await;
}

#[derive(Clone, Copy)]
struct Says(fn() -> Answer);
#[async_trait::async_trait]
impl Approval for Says {
    async fn ask(&self, request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
        assert_eq!((request.tool.as_str(), request.arguments.as_str()), ("probe", r#"{"text":"a"}"#));
        assert_eq!(request.reason.as_deref(), Some("touches production"));
        (self.0)()
    }
}
fn answered_by(rig: &Rig, says: Says) {
    rig.agent.provide::<dyn Approval>(Arc::new(says)).unwrap();
}

#[tokio::test]
async fn only_allowed_once_runs_and_every_other_answer_denies_in_its_own_words() {
    let answers: [(&str, Says); 4] = [
        ("rejected with a reason", Says(|| Answer::Reject { reason: Some("too risky".to_owned()) })),
        ("rejected", Says(|| Answer::Reject { reason: None })),
        ("unavailable", Says(|| Answer::Unavailable)),
        ("panics", Says(|| explode("the answerer"))),
    ];
    let mut words = BTreeSet::new();
    for (name, says) in answers {
        let rig = Rig::new().await;
        ask(&rig);
        answered_by(&rig, says);
        let outcome = rig.call("a").await;
        assert_eq!(rig.journal.all(), ["post:DENIED", "finalize:error", "result:DENIED"], "{name}");
        words.insert(shown(&outcome));
        rig.end().await;
    }
    let (missing, cancelled) = (unanswered().await, cancelled_while_asking().await);
    words.extend([missing, cancelled]);
    assert_eq!(words.len(), answers.len() + 2, "{words:?}");
    assert!(words.iter().any(|word| word.contains("too risky")), "{words:?}");

    let rig = Rig::new().await;
    ask(&rig);
    answered_by(&rig, Says(|| Answer::AllowOnce));
    rig.call("a").await;
    assert_eq!(rig.journal.count("body:a"), 1);
    rig.end().await;
}

async fn unanswered() -> String {
    let rig = Rig::new().await;
    ask(&rig);
    let outcome = rig.call("a").await;
    rig.end().await;
    shown(&outcome)
}

/// Never answers; cancels the caller once it is asked.
struct Hesitates(CancellationToken);
#[async_trait::async_trait]
impl Approval for Hesitates {
    async fn ask(&self, _request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
        self.0.cancel();
        std::future::pending().await
    }
}

async fn cancelled_while_asking() -> String {
    let rig = Rig::new().await;
    ask(&rig);
    rig.agent.provide::<dyn Approval>(Arc::new(Hesitates(rig.cancel.clone()))).unwrap();
    let outcome = rig.call("a").await;
    let expected = ["post:ABORTED_BEFORE_DISPATCH", "finalize:error", "result:ABORTED_BEFORE_DISPATCH"];
    assert_eq!(rig.journal.all(), expected);
    rig.end().await;
    shown(&outcome)
}

#[tokio::test]
async fn an_answer_after_the_cancellation_does_not_count() {
    struct TooLate(CancellationToken);
    #[async_trait::async_trait]
    impl Approval for TooLate {
        async fn ask(&self, _request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
            self.0.cancel();
            Answer::AllowOnce
        }
    }
    let rig = Rig::new().await;
    ask(&rig);
    rig.agent.provide::<dyn Approval>(Arc::new(TooLate(rig.cancel.clone()))).unwrap();
    rig.call("a").await;
    assert_eq!(rig.journal.count("body"), 0);
    rig.end().await;
}

#[tokio::test]
async fn a_guard_comes_after_the_approval() {
    let rig = Rig::new().await;
    ask(&rig);
    answered_by(&rig, Says(|| Answer::AllowOnce));
    rig.tools.guard(&rig.agent, "never", |_| Some("never".to_owned()));
    let outcome = rig.call("a").await;
    assert_eq!((code(&outcome).as_str(), rig.journal.count("body")), ("GUARD_DENIED", 0));
    rig.end().await;
}

/// Whatever listeners say, in whatever order and scope: the body does not run and the result is an error.
#[tokio::test]
async fn no_listener_undoes_a_guard() {
    for at_root in [false, true] {
        for order in [Order::Append, Order::Prepend] {
            for guard_first in [false, true] {
                let rig = Rig::new().await;
                let root = rig.app.ctx();
                let guard = || rig.tools.guard(&rig.agent, "never", |_| Some("never".to_owned()));
                if guard_first {
                    guard();
                }
                let ctx = if at_root { root } else { &rig.agent };
                ctx.around_at::<PreExecute, _>(order, |_, _| async { Ok(PreToolDecision::Allow) });
                ctx.around_at::<Execute, _>(order, |_, _| async {
                    Ok(ToolReturn::value(json!({ "text": "authored" })))
                });
                ctx.around_at::<PostExecute, _>(order, |event, next| async move {
                    next.run(event).await?;
                    let value = json!({ "text": "resurrected" });
                    Ok(PostToolDecision::AcceptValue { value, contexts: Vec::new() })
                });
                if !guard_first {
                    guard();
                }
                let outcome = rig.call("a").await;
                assert_eq!(rig.journal.count("body"), 0, "root {at_root}, {order:?}, first {guard_first}");
                assert!(outcome.is_error() && outcome.value.is_none(), "{outcome:?}");
                assert!(shown(&outcome).contains("never"), "the denial is still named: {}", shown(&outcome));
                rig.end().await;
            }
        }
    }
}

#[tokio::test]
async fn a_guard_that_panics_is_a_final_error() {
    let rig = Rig::new().await;
    rig.tools.guard(&rig.agent, "fragile", |_| explode("the guard"));
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all(), ["finalize:error", "result:LISTENER_FAILED"]);
    assert!(shown(&outcome).contains("fragile"), "{}", shown(&outcome));
    rig.end().await;
}

#[tokio::test]
async fn a_guard_belongs_to_its_scope_and_ends_with_its_context() {
    let rig = Rig::new().await;
    let (plugin, other) = (rig.agent.fork("plugin"), rig.app.ctx().scope("other agent"));
    rig.tools.guard(&plugin, "never", |_| Some("never".to_owned()));
    assert_eq!(code(&rig.call("a").await), "GUARD_DENIED");
    let elsewhere = crate::fixture::run(&rig.tools, &other, rig.request(r#"{"text":"b"}"#)).await;
    assert_eq!(code(&elsewhere), "ok");
    plugin.dispose().await.unwrap();
    assert_eq!(code(&rig.call("c").await), "ok");
    rig.end().await;
}

#[tokio::test]
async fn every_guard_of_the_chain_is_asked_until_one_denies() {
    let rig = Rig::new().await;
    let journal = rig.journal.clone();
    rig.tools.guard(&rig.agent, "inner", move |_| {
        journal.note("inner");
        Some("inner".to_owned())
    });
    let journal = rig.journal.clone();
    rig.tools.guard(rig.app.ctx(), "outer", move |call| {
        journal.note(format!("outer sees {} {}", call.name(), call.arguments()));
        None
    });
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all()[..2], [r#"outer sees probe {"text":"a"}"#, "inner"]);
    assert_eq!(shown(&outcome), "Error: inner");
    rig.end().await;
}

#[tokio::test]
async fn policy_sees_the_name_of_an_unknown_tool() {
    let rig = Rig::bare().await;
    let journal = rig.journal.clone();
    rig.agent.around::<PreExecute, _>(move |event, next| {
        journal.note(format!("pre:{}", event.0.name()));
        next.run(event)
    });
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all(), ["pre:probe", "post:UNKNOWN_TOOL", "result:UNKNOWN_TOOL"]);
    assert!(shown(&outcome).contains("there is no tool `probe`"), "{}", shown(&outcome));
    rig.end().await;
}

#[tokio::test]
async fn an_outer_listener_decides_without_the_inner_ones() {
    let rig = Rig::with(Probe::echo).await;
    let journal = rig.journal.clone();
    rig.agent.around::<PreExecute, _>(move |event, next| {
        journal.note("inner");
        next.run(event)
    });
    rig.app.ctx().around::<PreExecute, _>(|_, _| async { Ok(PreToolDecision::deny("outer")) });
    let outcome = rig.call("a").await;
    assert_eq!((shown(&outcome).as_str(), rig.journal.count("inner")), ("Error: outer", 0));
    rig.end().await;
}
