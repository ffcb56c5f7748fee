//! Rows between two steps.
use harness_agent::{
    AgentFailed, ContextEdit, ContextTransform, ListenerError, PostStep, PostStepDecision, RequestConfig,
};
use harness_llm::Message;
use harness_session::{Body, InboxTarget, TurnEndReason};

use crate::rig::tools::Echo;
use crate::rig::{Rig, calls, text};
use crate::{Notes, line, note, said};
use std::sync::Arc;

#[tokio::test]
async fn should_stop_after_turn() {
    let echo = Echo { context: Some("pending"), ..Echo::default() };
    let replies = [calls(&[("c1", "echo", r#"{"text":"done"}"#)]), text("b"), text("c")];
    let rig = Rig::with(replies, |ctx, tools| {
        tools.register(ctx, echo).unwrap();
        ctx.around::<PostStep, _>(|event, next| async move {
            let answer = event.answer().expect("a step has an answer");
            let results: Vec<_> = event.results().iter().map(|message| line(message)).collect();
            if results == ["c1=done"] {
                assert_eq!(line(&answer), "[c1]");
                assert!(!event.ending, "the model waits for the result");
                event.agent.followup(Message::user("later")).unwrap();
                return Ok(PostStepDecision::Stop { reason: "enough".into() });
            }
            next.run(event).await
        });
    })
    .await;
    rig.go("go").await;
    let story = rig.story();
    assert_eq!(story[story.len() - 3..], ["step/end", "agent/parked", "turn/end stopped"]);
    let events = rig.events();
    let Body::TurnEnd(end) = &events.last().unwrap().body else { unreachable!() };
    assert_eq!(end.reason, TurnEndReason::Stopped { reason: "enough".into() });
    // Nothing was drained, nothing runs by itself, and the next word takes it all up.
    let pending = |target| rig.agent.pending(target).iter().map(|message| line(message)).collect::<Vec<_>>();
    assert_eq!(pending(InboxTarget::NextStep), ["pending"]);
    assert_eq!(pending(InboxTarget::NextTurn), ["later"]);
    rig.go("on").await;
    assert_eq!(said(&rig.script.requests()[1])[2..], ["c1=done", "pending", "later"]);
    assert_eq!(said(&rig.script.requests()[2]).last().unwrap(), "on");
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_failing_post_step_listener_ends_the_turn_with_an_error() {
    let failures = Notes::<String>::default();
    let seen = Arc::clone(&failures);
    let rig = Rig::with([text("1"), text("2")], |ctx, _| {
        ctx.on::<AgentFailed>(move |failed| seen.lock().unwrap().push(failed.failure.to_string()));
        ctx.around::<PostStep, _>(|event, _| async move {
            assert_ne!(event.turn, 1, "first: a panic");
            Err(ListenerError("second: an error".into()))
        });
    })
    .await;
    rig.go("a").await;
    rig.go("b").await;
    let failures = failures.lock().unwrap().clone();
    assert!(
        failures[0].contains("agent/post-step") && failures[0].contains("first: a panic"),
        "{failures:?}"
    );
    assert!(failures[1].contains("second: an error"), "{failures:?}");
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn prepare_next_turn() {
    let four = calls(&["c1", "c2", "c3", "c4"].map(|id| (id, "echo", "{}")));
    let rig = Rig::with([four, text("ok")], |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
        let results = |agent: &dyn harness_agent::Agent| {
            agent.session().messages().iter().filter(|message| line(message).contains('=')).count()
        };
        ctx.around::<RequestConfig, _>(move |mut event, next| async move {
            if results(event.agent.as_ref()) > 3 {
                event.config.reasoning_effort = Some("high".into());
                event.config.model = "larger".into();
            }
            next.run(event).await
        });
        ctx.around::<ContextTransform, _>(move |mut event, next| async move {
            if results(event.agent.as_ref()) > 3 {
                event.edits.push(ContextEdit::Append(note("think again")));
            }
            next.run(event).await
        });
    })
    .await;
    rig.go("go").await;
    let requests = rig.script.requests();
    let configs: Vec<_> = requests
        .iter()
        .map(|request| (request.config.model.as_str(), request.config.reasoning_effort.as_deref()))
        .collect();
    assert_eq!(configs, [("m", None), ("larger", Some("high"))]);
    assert_eq!(said(&requests[1]).last().unwrap(), "think again");
    assert_eq!(rig.log().iter().filter(|line| *line == "request/header").count(), 2, "and the log says so");
    rig.app.shutdown().await.unwrap();
}
