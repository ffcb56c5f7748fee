//! Turns and steps, seen in the log and in the requests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and looks at real files"
)]
mod rig;

use harness_agent::{RequestErrorDecision, RequestFailed};
use harness_llm::{BlockKind, Chunk, FailureCode, FinishReason, LlmError, Message};
use harness_session::{InboxTarget, SessionEvent};
use rig::tools::Echo;
use rig::{Reply, Rig, calls, calls_ending, text};

#[tokio::test]
async fn one_tool_then_an_answer() {
    let replies = [calls(&[("c1", "echo", r#"{"text":"hi"}"#)]), text("done")];
    let rig = Rig::with(replies, |ctx, tools| tools.register(ctx, Echo::default()).unwrap()).await;
    rig.go("go").await;
    assert_eq!(
        rig.log(),
        [
            "agent/inbox/spliced",
            "turn/start",
            "agent/inbox/spliced",
            "step/start",
            "user/message go",
            "request/header",
            "request/context",
            "assistant/chunks",
            "assistant/message c1",
            "tool/call c1",
            "tool/result c1 ok",
            "step/end",
            "step/start",
            "assistant/chunks",
            "assistant/message done",
            "step/end",
            "turn/end completed",
        ]
    );
    assert_eq!(rig.script.requests()[1].messages.len(), 3);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_burst_of_followups_runs_one_turn_each() {
    let rig = Rig::new([text("1"), text("2"), text("3")]).await;
    for prompt in ["a", "b", "c"] {
        rig.agent.followup(Message::user(prompt)).unwrap();
    }
    rig.agent.when_idle().await;
    let turns = ["a", "b", "c"].into_iter().zip(["1", "2", "3"]).flat_map(|(prompt, answer)| {
        ["turn/start".into(), "step/start".into(), format!("user/message {prompt}")].into_iter().chain([
            format!("assistant/message {answer}"),
            "step/end".into(),
            "turn/end completed".into(),
        ])
    });
    assert_eq!(rig.story(), turns.collect::<Vec<String>>());
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_error_parks_the_queue_and_the_next_word_wakes_it() {
    let error = LlmError::new(FailureCode::SERVER, "down");
    let rig = Rig::new([Reply::Error(error), text("b"), text("c")]).await;
    // Both are queued before the driver can run: this test's runtime has one thread.
    rig.agent.followup(Message::user("a")).unwrap();
    rig.agent.followup(Message::user("b")).unwrap();
    rig.agent.when_idle().await;
    let story = rig.story();
    assert_eq!(story[story.len() - 2..], ["turn/end error", "agent/parked"]);
    assert_eq!(rig.agent.pending(InboxTarget::NextTurn).len(), 1);
    rig.go("c").await;
    let answers: Vec<_> = rig.story().into_iter().filter(|line| line.starts_with("assistant/")).collect();
    assert_eq!(answers, ["assistant/message b", "assistant/message c"]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_retry_runs_the_same_step_again() {
    let cut = Reply::Chunks(vec![
        Chunk::BlockStart { index: 0, kind: BlockKind::Text },
        Chunk::TextDelta { index: 0, text: "par".into() },
    ]);
    let rig = Rig::with([cut, text("whole")], |ctx, _| {
        ctx.around::<RequestFailed, _>(|event, next| async move {
            assert_eq!((event.attempt, event.failure.code.clone()), (1, FailureCode::STREAM_CLOSED));
            let _ = next.run(event).await?;
            Ok(RequestErrorDecision::Retry)
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
            "assistant/message whole",
            "step/end",
            "turn/end completed"
        ]
    );
    assert_eq!(rig.script.requests()[0].messages, rig.script.requests()[1].messages);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_cut_stream_is_an_error_and_enters_no_history() {
    let cut = Reply::Chunks(vec![
        Chunk::BlockStart { index: 0, kind: BlockKind::Text },
        Chunk::TextDelta { index: 0, text: "par".into() },
    ]);
    let rig = Rig::new([cut, text("again")]).await;
    rig.go("one").await;
    assert_eq!(rig.story().last().unwrap(), "turn/end error");
    rig.go("two").await;
    let texts: Vec<_> = rig.script.requests()[1].messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["one", "two"]);
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_reply_cut_at_the_output_limit_runs_none_of_its_calls() {
    let cut = calls_ending(&[("c1", "echo", r#"{"te"#), ("c2", "echo", "{}")], FinishReason::MaxTokens);
    let echo = Echo::default();
    let runs = echo.runs.clone();
    let rig = Rig::with([cut, text("sorry")], |ctx, tools| tools.register(ctx, echo).unwrap()).await;
    rig.go("go").await;
    assert_eq!(runs.load(std::sync::atomic::Ordering::SeqCst), 0);
    assert_eq!(
        rig.story()[3..],
        [
            "assistant/message c1,c2",
            "tool/result c1 OUTPUT_LIMIT",
            "tool/result c2 OUTPUT_LIMIT",
            "step/end",
            "step/start",
            "assistant/message sorry",
            "step/end",
            "turn/end max-tokens",
        ]
    );
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_step_budget_ends_a_turn_that_goes_on_and_on() {
    let replies = (0..3).map(|n| calls(&[(&format!("c{n}"), "echo", "{}")]));
    let rig = Rig::with(replies.collect::<Vec<_>>(), |ctx, tools| {
        tools.register(ctx, Echo::default()).unwrap();
    })
    .await;
    let mut options = rig.agent.options();
    options.max_steps = 3;
    rig.agent.set_options(options);
    rig.go("go").await;
    assert_eq!(rig.story().last().unwrap(), "turn/end budget");
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_observer_can_send_and_the_message_comes_later() {
    let rig = Rig::new([text("1"), text("2")]).await;
    let agent = std::sync::Arc::clone(&rig.agent);
    let once = std::sync::Once::new();
    let (sent, delivered) = tokio::sync::oneshot::channel();
    let sent = std::sync::Mutex::new(Some(sent));
    rig.agent.ctx().on::<SessionEvent>(move |event| {
        if rig::line(&event.event) == "assistant/message 1" {
            once.call_once(|| {
                agent.followup(Message::user("more")).unwrap();
                sent.lock().unwrap().take().unwrap().send(()).unwrap();
            });
        }
    });
    rig.go("go").await;
    delivered.await.unwrap();
    rig.agent.when_idle().await;
    assert_eq!(rig.story().iter().filter(|line| *line == "turn/end completed").count(), 2);
    rig.app.shutdown().await.unwrap();
}
