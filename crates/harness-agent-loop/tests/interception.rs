//! What listeners around turns and steps can do, and the old jobs done the new way.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and looks at real files"
)]
mod rig;

use std::sync::{Arc, Mutex};

use harness_agent::{
    AgentFailed, ListenerError, PreStep, PreStepDecision, RequestConfig, RequestErrorDecision, RequestFailed,
    SessionStart, TurnEnding, TurnStopping,
};
use harness_llm::{ContextForm, Failure, FailureCode, LlmError, Message};
use harness_session::{Body, TurnEndReason};
use harness_tools::{PostExecute, PostToolDecision};
use rig::tools::Echo;
use rig::{Reply, Rig, calls, text};
use std::ops::ControlFlow;

#[tokio::test]
async fn pre_step_reject_closes_a_durable_turn_with_no_step() {
    let rig = Rig::with([text("b")], |ctx, _| {
        ctx.around::<PreStep, _>(|event, next| async move {
            if event.messages.iter().any(|message| message.text() == "bad") {
                return Ok(PreStepDecision::Reject { reason: Some("policy".into()) });
            }
            next.run(event).await
        });
    })
    .await;
    rig.agent.followup(Message::user("bad")).unwrap();
    rig.agent.followup(Message::user("good")).unwrap();
    rig.agent.when_idle().await;
    // A blocked turn goes on to the next queued follow-up.
    assert_eq!(
        rig.story(),
        [
            "turn/start",
            "turn/end blocked",
            "turn/start",
            "step/start",
            "user/message good",
            "assistant/message b",
            "step/end",
            "turn/end completed"
        ]
    );
    let events = rig.events();
    let blocked = events.iter().find_map(|event| match &event.body {
        Body::TurnEnd(end) => Some(end.reason.clone()),
        _ => None,
    });
    assert_eq!(blocked, Some(TurnEndReason::Blocked { reason: Some("policy".into()) }));
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn pre_step_can_add_context_to_the_very_request() {
    let rig = Rig::with([text("ok")], |ctx, _| {
        ctx.around::<PreStep, _>(|mut event, next| async move {
            event.messages.push(Arc::new(Message::context("clock", ContextForm::Snapshot, "it is noon")));
            next.run(event).await
        });
    })
    .await;
    rig.go("go").await;
    let sent: Vec<_> = rig.script.requests()[0].messages.iter().map(|message| message.text()).collect();
    // Verbatim: no envelope is added on the way.
    assert_eq!(sent, ["go", "it is noon"]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_stopping_listener_can_steer_one_more_step() {
    let rig = Rig::with([text("1"), text("2")], |ctx, _| {
        let once = Arc::new(std::sync::Once::new());
        ctx.on_serial::<TurnStopping, _>(move |event| {
            once.call_once(|| {
                event.agent.steer(Message::context("goal", ContextForm::Notice, "not yet")).unwrap();
            });
            async { ControlFlow::Continue(()) }
        });
    })
    .await;
    rig.go("go").await;
    assert_eq!(
        rig.story(),
        [
            "turn/start",
            "step/start",
            "user/message go",
            "assistant/message 1",
            "step/end",
            "step/start",
            "user/message not yet",
            "assistant/message 2",
            "step/end",
            "turn/end completed"
        ]
    );
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn contexts_land_after_all_results_of_the_batch() {
    let echo = Echo { context: Some("note"), ..Echo::default() };
    let both = calls(&[("c1", "echo", "{}"), ("c2", "echo", "{}")]);
    let rig = Rig::with([both, text("ok")], |ctx, tools| {
        tools.register(ctx, echo).unwrap();
        ctx.around::<PostExecute, _>(|_, _| async {
            Ok(PostToolDecision::Accept {
                contexts: vec![Message::context("post", ContextForm::Notice, "after")],
            })
        });
    })
    .await;
    rig.go("go").await;
    assert_eq!(
        rig.story()[4..],
        [
            "tool/call c1",
            "tool/call c2",
            "tool/result c1 ok",
            "tool/result c2 ok",
            "step/end",
            "step/start",
            "user/message note",
            "user/message after",
            "user/message note",
            "user/message after",
            "assistant/message ok",
            "step/end",
            "turn/end completed"
        ]
        .map(str::to_owned)
        .into_iter()
        .collect::<Vec<_>>()
    );
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_failing_listener_ends_the_turn_and_never_the_driver() {
    let rig = Rig::with([text("ok")], |ctx, _| {
        let count = Arc::new(std::sync::atomic::AtomicU32::new(0));
        ctx.around::<PreStep, _>(move |event, next| {
            let n = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            async move {
                assert_ne!(n, 0, "first: a panic");
                if n == 1 { Err(ListenerError("second: an error".into())) } else { next.run(event).await }
            }
        });
    })
    .await;
    let failures = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&failures);
    rig.agent
        .ctx()
        .on::<AgentFailed>(move |failed| seen.lock().unwrap().push(failed.failure.message.clone()));
    for prompt in ["1", "2", "3"] {
        rig.go(prompt).await;
    }
    let ends: Vec<_> = rig.story().into_iter().filter(|line| line.starts_with("turn/end")).collect();
    assert_eq!(ends, ["turn/end error", "turn/end error", "turn/end completed"]);
    let failures = std::mem::take(&mut *failures.lock().unwrap());
    assert!(failures[0].contains("agent/pre-step") && failures[0].contains("first: a panic"), "{failures:?}");
    assert!(failures[1].contains("second: an error"));
    assert_eq!(failures.len(), 2, "each is reported once");
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn session_start_context_is_in_the_first_request() {
    let rig = Rig::with([text("ok")], |ctx, _| {
        ctx.on_parallel::<SessionStart, _>(|start| async move {
            tokio::task::yield_now().await;
            start.agent.inject(Message::context("env", ContextForm::Snapshot, "folder /w")).unwrap();
            Ok(())
        });
    })
    .await;
    rig.go("go").await;
    let sent: Vec<_> = rig.script.requests()[0].messages.iter().map(|message| message.text()).collect();
    assert_eq!(sent, ["folder /w", "go"]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn agent_request_switches_the_model_and_the_log_says_so() {
    let rig = Rig::with([text("1"), text("2")], |ctx, _| {
        ctx.around::<RequestConfig, _>(|mut event, next| async move {
            if event.turn == 2 {
                event.config.model = "other".into();
            }
            next.run(event).await
        });
    })
    .await;
    rig.go("a").await;
    rig.go("b").await;
    let models: Vec<_> = rig.script.requests().iter().map(|request| request.config.model.clone()).collect();
    assert_eq!(models, ["m", "other"]);
    assert_eq!(rig.log().iter().filter(|line| *line == "request/header").count(), 2);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn pre_step_can_end_a_turn_on_a_budget_or_with_a_failure() {
    let rig = Rig::with([calls(&[("c1", "echo", "{}")])], |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
        ctx.around::<PreStep, _>(|event, next| async move {
            match (event.turn, event.step) {
                (1, 2) => Ok(PreStepDecision::Budget { budget: "tokens".into(), limit: 7 }),
                (2, 1) => {
                    let failure = Failure::new(FailureCode::other("NO_ROOM"), "there is no room");
                    Ok(PreStepDecision::Fail(failure))
                }
                _ => next.run(event).await,
            }
        });
    })
    .await;
    rig.go("one").await;
    rig.go("two").await;
    let ends: Vec<_> = rig
        .events()
        .iter()
        .filter_map(|event| match &event.body {
            Body::TurnEnd(end) => Some(end.reason.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(ends[0], TurnEndReason::Budget { budget: "tokens".into(), limit: 7 });
    assert!(
        matches!(&ends[1], TurnEndReason::Error { failure } if failure.code.as_str() == "NO_ROOM"),
        "{ends:?}"
    );
    assert_eq!(rig.script.requests().len(), 1);
}

#[tokio::test]
async fn a_request_error_can_be_told_in_other_words() {
    let refused = LlmError::new(FailureCode::CONTEXT_WINDOW_EXCEEDED, "too long");
    let rig = Rig::with([Reply::Error(refused)], |ctx, _| {
        ctx.around::<RequestFailed, _>(|_, _| async move {
            let failure = Failure::new(FailureCode::other("SAYS_MORE"), "why it is too long");
            Ok(RequestErrorDecision::FailWith(failure))
        });
    })
    .await;
    rig.go("go").await;
    let story = rig.events();
    let end = story.iter().find_map(|event| match &event.body {
        Body::TurnEnd(end) => Some(end.reason.clone()),
        _ => None,
    });
    assert!(matches!(end, Some(TurnEndReason::Error { failure }) if failure.code.as_str() == "SAYS_MORE"));
}

/// Whatever ends a turn, listeners get their word in before `turn/end`; a failing one is told and changes nothing.
#[tokio::test]
async fn turn_ending_comes_before_every_end() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let (reasons, failures) = (Arc::clone(&seen), Arc::clone(&told));
    let rig =
        Rig::with([text("a"), Reply::Error(LlmError::new(FailureCode::SERVER, "oops"))], move |ctx, _| {
            ctx.on_parallel::<TurnEnding, _>(move |ending| {
                let reasons = Arc::clone(&reasons);
                async move {
                    assert!(ending.agent.session().open_turn().is_some(), "the turn is still open");
                    reasons.lock().unwrap().push(format!("{} {:?}", ending.turn, ending.reason));
                    Err(ListenerError("no ink".into()))
                }
            });
            ctx.on::<AgentFailed>(move |failed| {
                failures.lock().unwrap().push(failed.failure.message.clone());
            });
        })
        .await;
    rig.go("one").await;
    rig.go("two").await;
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 2);
    assert!(seen[0].starts_with("1 Completed") && seen[1].starts_with("2 Error"), "{seen:?}");
    assert_eq!(told.lock().unwrap().iter().filter(|text| text.contains("no ink")).count(), 2);
    let story = rig.story();
    assert!(story.contains(&"turn/end completed".to_owned()) && story.contains(&"turn/end error".to_owned()));
}
