//! Phase 4: wrappers around the body.
use std::sync::{Arc, Mutex};

use harness_tools::{Execute, ToolReturn};
use serde_json::json;

use crate::fixture::{Output, Probe, Rig, code, context, contexts, explode, failure, shown};

#[tokio::test]
async fn a_wrappers_own_success_is_rendered_by_the_tool() {
    let rig = Rig::new().await;
    rig.agent.around::<Execute, _>(|_, _| async { Ok(ToolReturn::value(json!({ "text": "cached" }))) });
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all(), ["render:cached", "post:ok", "finalize:ok", "result:ok"]);
    assert_eq!(shown(&outcome), "shown cached");
    assert_eq!(outcome.meta, Some(json!({ "length": 6 })));
    rig.end().await;
}

#[tokio::test]
async fn a_wrappers_success_that_the_tool_could_not_have_had_is_an_error() {
    let rig = Rig::new().await;
    rig.agent.around::<Execute, _>(|_, _| async { Ok(ToolReturn::value(json!({ "words": 3 }))) });
    let outcome = rig.call("a").await;
    assert_eq!(
        rig.journal.all(),
        ["post:INVALID_TOOL_OUTPUT", "finalize:error", "result:INVALID_TOOL_OUTPUT"]
    );
    assert!(shown(&outcome).contains("missing field `text`"), "{}", shown(&outcome));
    rig.end().await;
}

#[tokio::test]
async fn a_wrapper_gives_no_value_to_an_unknown_tool() {
    let rig = Rig::bare().await;
    rig.agent.around::<Execute, _>(|_, _| async { Ok(ToolReturn::value(json!({ "text": "made up" }))) });
    assert_eq!(code(&rig.call("a").await), "UNKNOWN_TOOL");
    rig.end().await;
}

/// What another call came to is not trusted: it is validated and rendered again.
#[tokio::test]
async fn a_result_of_another_call_is_normalised_again() {
    let rig = Rig::new().await;
    let kept: Arc<Mutex<Option<ToolReturn>>> = Arc::default();
    rig.agent.around::<Execute, _>(move |event, next| {
        let kept = Arc::clone(&kept);
        async move {
            let before = kept.lock().unwrap().clone();
            if let Some(before) = before {
                return Ok(before);
            }
            let returned = next.run(event).await?;
            *kept.lock().unwrap() = Some(returned.clone());
            Ok(returned)
        }
    });
    rig.call("first").await;
    rig.journal.clear();
    let outcome = rig.call("second").await;
    assert_eq!(rig.journal.all()[0], "render:first", "rendered for this call, and no body ran");
    assert_eq!(shown(&outcome), "shown first");
    rig.end().await;
}

#[tokio::test]
async fn a_retry_runs_the_body_again_and_comes_to_one_result() {
    let rig = Rig::with(|journal| {
        let notes = journal.clone();
        Probe::acting(journal, move |input, run| {
            let attempt = notes.count("body");
            async move {
                run.defer_context(context(&format!("attempt {attempt}")));
                if attempt == 1 { Err(failure("FLAKY")) } else { Ok(Output { text: input.text }) }
            }
        })
    })
    .await;
    rig.agent.around::<Execute, _>(|event, next| async move {
        let returned = next.clone().run(event.clone()).await?;
        if returned.result().is_ok() {
            return Ok(returned);
        }
        next.run(event).await
    });
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.count("body:a"), 2);
    assert_eq!((rig.journal.count("finalize"), rig.journal.count("result:ok")), (1, 1));
    assert_eq!(contexts(&outcome), ["attempt 1", "attempt 2"]);
    rig.end().await;
}

#[tokio::test]
async fn a_wrapper_is_given_failures_in_their_final_form() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    for text in ["fails", "panics"] {
        let rig = Rig::with(|journal| {
            Probe::acting(journal, |input, _| async move {
                match input.text.as_str() {
                    "fails" => Err(failure("NO_ROUTE")),
                    other => explode(other),
                }
            })
        })
        .await;
        let seen = Arc::clone(&seen);
        rig.agent.around::<Execute, _>(move |event, next| {
            let seen = Arc::clone(&seen);
            async move {
                let returned = next.run(event).await?;
                seen.lock().unwrap().push(returned.result().unwrap_err().code.to_string());
                Ok(returned)
            }
        });
        let outcome = rig.call(text).await;
        assert!(outcome.is_error());
        rig.end().await;
    }
    assert_eq!(*seen.lock().unwrap(), ["NO_ROUTE", "TOOL_PANICKED"]);
}

#[tokio::test]
async fn a_panicking_body_is_named_and_still_reaches_the_later_phases() {
    let rig = Rig::with(|journal| Probe::acting(journal, |_, _| async { explode("the disk") })).await;
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all(), ["body:a", "post:TOOL_PANICKED", "finalize:error", "result:TOOL_PANICKED"]);
    assert!(shown(&outcome).contains("`probe` panicked: panicked: the disk exploded"), "{}", shown(&outcome));
    rig.end().await;
}
