//! Phase 0: the only place where arguments may be rewritten.
use std::sync::{Arc, Mutex};

use harness_kernel::Order;
use harness_tools::{PreExecute, Prepare, Prepared, ToolResultNotice};
use serde_json::{Value, json};

use crate::fixture::{Rig, code, shown};

fn rewrite(rig: &Rig, by: &'static str, order: Order, change: fn(&Value) -> Value) {
    rig.agent.around_at::<Prepare, _>(order, move |prepare, next| {
        let arguments = change(prepare.arguments());
        next.run(prepare.rewrite(by, arguments))
    });
}

#[tokio::test]
async fn what_runs_is_what_was_rewritten_and_everybody_after_sees_the_same() {
    let rig = Rig::new().await;
    rewrite(&rig, "normaliser", Order::Append, |_| json!({ "text": "b" }));
    let journal = rig.journal.clone();
    rig.agent.around::<PreExecute, _>(move |event, next| {
        journal.note(format!("pre:{}:{}", event.0.arguments_text(), event.0.rewritten_by().join("+")));
        next.run(event)
    });
    let journal = rig.journal.clone();
    rig.agent.on::<ToolResultNotice>(move |notice| journal.note(format!("told:{}", notice.call.arguments())));
    rig.call("a").await;
    assert_eq!(rig.journal.all()[..2], [r#"pre:{"text":"b"}:normaliser"#, "body:b"]);
    assert_eq!(rig.journal.all().last().unwrap(), r#"told:{"text":"b"}"#);
    rig.end().await;
}

#[tokio::test]
async fn every_rewriter_signs_in_order() {
    let rig = Rig::new().await;
    let append = |mark: &'static str| move |arguments: &Value| json!({ "text": format!("{}{mark}", arguments["text"].as_str().unwrap()) });
    let (first, second) = (append("1"), append("2"));
    rig.agent.around::<Prepare, _>(move |prepare, next| {
        let arguments = first(prepare.arguments());
        next.run(prepare.rewrite("first", arguments))
    });
    rig.agent.around::<Prepare, _>(move |prepare, next| {
        let arguments = second(prepare.arguments());
        next.run(prepare.rewrite("second", arguments))
    });
    let sealed = rig.tools.seal(&rig.agent, rig.request(r#"{"text":"a"}"#)).await;
    assert_eq!(sealed.call().arguments(), &json!({ "text": "a12" }));
    assert_eq!(sealed.call().rewritten_by(), ["first", "second"]);
    rig.end().await;
}

#[tokio::test]
async fn untouched_arguments_keep_the_text_that_the_model_sent() {
    let rig = Rig::new().await;
    rig.agent.around::<Prepare, _>(|prepare, next| next.run(prepare));
    let text = "{ \"text\" :\t\"a\" }";
    let sealed = rig.tools.seal(&rig.agent, rig.request(text)).await;
    assert_eq!(sealed.call().arguments_text(), text);
    assert!(sealed.call().rewritten_by().is_empty());
    rig.end().await;
}

#[tokio::test]
async fn arguments_that_are_rewritten_to_something_invalid_are_refused_by_name() {
    let invalid: [fn(&Value) -> Value; 3] = [|_| json!({ "text": 1 }), |_| json!(["text"]), |_| json!({})];
    for change in invalid {
        let rig = Rig::new().await;
        rewrite(&rig, "clumsy", Order::Append, change);
        let outcome = rig.call("a").await;
        assert_eq!((code(&outcome).as_str(), rig.journal.count("body")), ("INVALID_ARGS", 0));
        assert!(shown(&outcome).contains("rewritten by clumsy"), "{}", shown(&outcome));
        let sealed = rig.tools.seal(&rig.agent, rig.request(r#"{"text":"a"}"#)).await;
        assert_eq!(sealed.call().arguments_text(), r#"{"text":"a"}"#, "what the model sent is kept");
        rig.end().await;
    }
}

/// Nothing but an object may enter the history, whether or not the tool is known.
#[tokio::test]
async fn arguments_of_an_unknown_tool_stay_an_object() {
    let rig = Rig::bare().await;
    rewrite(&rig, "clumsy", Order::Append, |_| json!("text"));
    assert_eq!(code(&rig.call("a").await), "INVALID_ARGS");
    rig.end().await;
}

/// A listener cannot smuggle in arguments that it did not sign for.
#[tokio::test]
async fn what_was_prepared_for_another_call_is_refused() {
    for delegates in [false, true] {
        let rig = Rig::new().await;
        let kept: Arc<Mutex<Option<(Prepare, Prepared)>>> = Arc::default();
        rig.agent.around::<Prepare, _>(move |prepare, next| {
            let kept = Arc::clone(&kept);
            async move {
                let before = kept.lock().unwrap().clone();
                match before {
                    None => {
                        let prepared = next.run(prepare.clone()).await?;
                        *kept.lock().unwrap() = Some((prepare, prepared.clone()));
                        Ok(prepared)
                    }
                    Some((event, _)) if delegates => next.run(event).await,
                    Some((_, prepared)) => Ok(prepared),
                }
            }
        });
        assert_eq!(code(&rig.call("first").await), "ok");
        rig.journal.clear();
        let outcome = rig.call("second").await;
        assert_eq!((code(&outcome).as_str(), rig.journal.count("body")), ("LISTENER_FAILED", 0));
        assert!(shown(&outcome).contains("another call"), "{}", shown(&outcome));
        rig.end().await;
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_not_offered_for_repair() {
    let rig = Rig::new().await;
    let journal = rig.journal.clone();
    rig.agent.around::<Prepare, _>(move |prepare, next| {
        journal.note("prepare");
        next.run(prepare)
    });
    rig.run(rig.request(r#"{"txt":"a"}"#)).await;
    assert_eq!(rig.journal.count("prepare"), 0);
    rig.end().await;
}
