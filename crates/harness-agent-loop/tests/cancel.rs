//! Cancellation: at random points the log stays balanced and every call is answered once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and looks at real files"
)]
mod rig;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use harness_agent::InboxPolicy;
use harness_kernel::Ctx;
use harness_llm::{Block, BlockKind, Chunk, Message};
use harness_session::{
    AbortCause, Body, Derivation, Event, Grammar, InboxTarget, SessionFlush, TurnEndReason,
};
use harness_tools::Tools;
use proptest::prelude::*;
use rig::tools::{Echo, Hang};
use rig::{Reply, Rig, calls, text};

fn started(events: &[Arc<Event>]) -> Vec<TurnEndReason> {
    let reason = |event: &Arc<Event>| match &event.body {
        Body::TurnEnd(end) => Some(end.reason.clone()),
        _ => None,
    };
    events.iter().filter_map(reason).collect()
}

#[tokio::test]
async fn cancel_in_mid_stream_keeps_the_visible_prefix() {
    let stall = Reply::Stall(vec![
        Chunk::BlockStart { index: 0, kind: BlockKind::Text },
        Chunk::TextDelta { index: 0, text: "half".into() },
    ]);
    let rig = Rig::new([stall, text("next")]).await;
    let mut live = rig.agent.session().subscribe();
    rig.agent.followup(Message::user("go")).unwrap();
    while !matches!(&*live.next().await.unwrap().chunk, Chunk::TextDelta { .. }) {}
    rig.agent.cancel(AbortCause::User, InboxPolicy::Clear);
    rig.agent.cancel(AbortCause::Parent, InboxPolicy::Clear);
    // After the abort and before it has converged: this opens the next turn.
    rig.agent.steer(Message::user("then")).unwrap();
    rig.agent.when_idle().await;
    assert_eq!(
        rig.story(),
        [
            "turn/start",
            "step/start",
            "user/message go",
            "assistant/message half interrupted",
            "step/end",
            "turn/end aborted",
            "turn/start",
            "step/start",
            "user/message then",
            "assistant/message next",
            "step/end",
            "turn/end completed"
        ]
    );
    assert_eq!(
        started(&rig.events())[0],
        TurnEndReason::Aborted { cause: AbortCause::User },
        "first cause wins"
    );
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn cancel_in_mid_tool_answers_every_call() {
    let three = calls(&[("c1", "hang", "{}"), ("c2", "echo", "{}"), ("c3", "hang", "{}")]);
    let hang = Hang::default();
    let running = Arc::clone(&hang.started);
    let rig = Rig::with([three], |ctx, tools| {
        tools.register(ctx, hang).unwrap();
        tools.register(ctx, Echo::default()).unwrap();
    })
    .await;
    rig.agent.followup(Message::user("go")).unwrap();
    running.notified().await;
    rig.agent.cancel(AbortCause::User, InboxPolicy::Clear);
    rig.agent.when_idle().await;
    assert_eq!(
        rig.story()[4..],
        [
            "tool/call c1",
            "tool/result c1 ABORTED",
            "tool/result c2 ABORTED_BEFORE_DISPATCH",
            "tool/result c3 ABORTED_BEFORE_DISPATCH",
            "step/end",
            "turn/end aborted",
        ]
    );
    rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn keeping_the_inbox_parks_it_and_clearing_drops_it() {
    for (policy, left) in [(InboxPolicy::Keep, 1), (InboxPolicy::Clear, 0)] {
        let rig = Rig::new([Reply::Stall(vec![])]).await;
        rig.agent.followup(Message::user("go")).unwrap();
        while rig.script.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        rig.agent.followup(Message::user("queued")).unwrap();
        rig.agent.cancel(AbortCause::User, policy);
        rig.agent.when_idle().await;
        assert_eq!(rig.agent.pending(InboxTarget::NextTurn).len(), left, "{policy:?}");
        assert_eq!(rig.script.requests().len(), 1);
        rig.app.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn disposal_in_mid_turn_closes_the_log_and_unregisters() {
    let rig = Rig::new([Reply::Stall(vec![])]).await;
    rig.agent.followup(Message::user("go")).unwrap();
    while rig.script.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    rig.agent.dispose().await;
    assert_eq!(rig.story().last().unwrap(), "turn/end aborted");
    assert_eq!(started(&rig.events()), [TurnEndReason::Aborted { cause: AbortCause::Disposed }]);
    assert!(rig.app.ctx().service::<harness_agent::Agents>().unwrap().live().is_empty());
    assert!(rig.agent.followup(Message::user("late")).is_err());
    rig.app.shutdown().await.unwrap();
}

fn setup(ctx: &Ctx, tools: &Arc<Tools>) {
    tools.register(ctx, Echo::default()).unwrap();
    ctx.on_parallel::<SessionFlush, _>(|_| async {
        // A barrier takes a while, so that a cancellation can fall into it.
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(())
    });
}

/// Two batches of calls with waits, then an answer; cancelled after `after` milliseconds.
async fn drive(waits: Vec<Vec<u64>>, after: u64) -> Vec<Arc<Event>> {
    let mut replies: Vec<Reply> = Vec::new();
    for (batch, waits) in waits.iter().enumerate() {
        let owned: Vec<_> = waits
            .iter()
            .enumerate()
            .map(|(n, wait)| (format!("c{batch}-{n}"), format!(r#"{{"text":"t","wait":{wait}}}"#)))
            .collect();
        let parts: Vec<_> = owned.iter().map(|(id, args)| (id.as_str(), "echo", args.as_str())).collect();
        replies.push(calls(&parts));
    }
    replies.push(text("done"));
    let rig = Rig::with(replies, setup).await;
    rig.agent.followup(Message::user("go")).unwrap();
    tokio::time::sleep(Duration::from_millis(after)).await;
    rig.agent.cancel(AbortCause::User, InboxPolicy::Clear);
    rig.agent.when_idle().await;
    let events = rig.events();
    rig.app.shutdown().await.unwrap();
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_call_has_exactly_one_result_under_any_abort_point(
        waits in proptest::collection::vec(proptest::collection::vec(0u64..12, 1..14), 1..3),
        after in 0u64..40,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let events = runtime.block_on(drive(waits, after));
        let grammar = Grammar::of(events.iter().map(AsRef::as_ref)).unwrap();
        prop_assert!(grammar.open_turn().is_none(), "the log is balanced");
        let mut results: HashMap<String, u32> = HashMap::new();
        let mut order = Vec::new();
        for event in &events {
            match &event.body {
                Body::AssistantMessage(message) => {
                    for call in message.message.tool_calls() {
                        results.insert(call.id.clone(), 0);
                        order.push(call.id.clone());
                    }
                }
                Body::ToolResult(result) => {
                    let [Block::ToolResult(block)] = result.message.content.as_slice() else { panic!() };
                    *results.get_mut(&block.call_id).unwrap() += 1;
                    prop_assert_eq!(order.remove(0), block.call_id.clone(), "results come in model order");
                }
                _ => {}
            }
        }
        prop_assert!(results.values().all(|count| *count == 1), "{results:?}");
        // What the next request would carry is what a fold of the log from scratch gives.
        prop_assert!(Derivation::of(events.iter().map(AsRef::as_ref)).is_ok());
    }
}
