//! Cancellation: always the caller's, narrowed at most; a started body is always awaited.
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness_kernel::Next;
use harness_tools::{
    Execute, PreExecute, Prepare, ToolCall, ToolFailure, ToolFailureCode, ToolOutcome, ToolReturn,
};
use tokio::sync::Notify;

use crate::fixture::{Journal, Output, Probe, Ran, Rig, code, context, contexts, failure, shown};

/// A body that runs until it is told to stop.
fn patient(journal: &Journal) -> Probe {
    let notes = journal.clone();
    Probe::acting(journal, move |input, run| {
        let notes = notes.clone();
        async move {
            run.cancel_token().cancelled().await;
            notes.note("stopped");
            Ok(Output { text: input.text })
        }
    })
}

type Wrapper = fn(Execute, Next<Execute>) -> harness_kernel::BoxFuture<'static, ExecuteOutput>;
type ExecuteOutput = Result<ToolReturn, harness_tools::ListenerError>;

#[tokio::test]
async fn the_callers_cancellation_reaches_the_body_through_any_wrapper() {
    let wrappers: [(&str, Wrapper); 4] = [
        ("delegates", |event, next| next.run(event)),
        ("narrows", |Execute(call), next| next.run(Execute(call.narrow().call))),
        ("narrows twice", |Execute(call), next| next.run(Execute(call.narrow().call.narrow().call))),
        ("delegates an older copy", |Execute(call), next| {
            drop(call.narrow());
            next.run(Execute(call))
        }),
    ];
    for (name, wrapper) in wrappers {
        let rig = Rig::with(patient).await;
        rig.agent.around::<Execute, _>(wrapper);
        tokio::spawn(rig.cancel_once_running());
        let outcome = rig.call("a").await;
        assert_eq!(rig.journal.count("stopped"), 1, "{name}");
        assert_eq!(code(&outcome), "ABORTED", "{name}");
        rig.end().await;
    }
}

#[tokio::test]
async fn a_wrapper_can_stop_the_body_without_stopping_the_caller() {
    let rig = Rig::with(patient).await;
    rig.agent.around::<Execute, _>(|Execute(call), next| async move {
        let narrowed = call.narrow();
        narrowed.cancel.cancel();
        assert!(!call.cancel_token().is_cancelled(), "only what is below is cancelled");
        next.run(Execute(narrowed.call)).await
    });
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.count("body"), 0, "it was cancelled before it started");
    assert_eq!(code(&outcome), "ABORTED_BEFORE_DISPATCH");
    assert!(!rig.cancel.is_cancelled());
    rig.end().await;
}

#[tokio::test]
async fn a_wrapper_cannot_delegate_another_call() {
    let rig = Rig::new().await;
    let first: Arc<Mutex<Option<ToolCall>>> = Arc::default();
    rig.agent.around::<Execute, _>(move |Execute(call), next| {
        let kept = first.lock().unwrap().get_or_insert(call).clone();
        next.run(Execute(kept))
    });
    assert_eq!(code(&rig.call("first").await), "ok");
    rig.journal.clear();
    let outcome = rig.call("second").await;
    assert_eq!(rig.journal.all(), ["finalize:error", "result:LISTENER_FAILED"]);
    assert!(shown(&outcome).contains("another call"), "{}", shown(&outcome));
    rig.end().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_starts_meets_no_policy_and_no_body() {
    let rig = Rig::new().await;
    let journal = rig.journal.clone();
    rig.agent.around::<PreExecute, _>(move |event, next| {
        journal.note("pre");
        next.run(event)
    });
    rig.cancel.cancel();
    rig.call("a").await;
    assert_eq!(rig.journal.all(), ["finalize:error", "result:ABORTED_BEFORE_DISPATCH"]);
    rig.end().await;
}

/// Only a success is downgraded: a failure keeps its identity, and contexts survive both.
#[tokio::test]
async fn a_success_after_the_cancellation_is_an_abort_and_a_failure_stays_what_it_is() {
    for (fails, expected) in [(false, "ABORTED"), (true, "DISK_FULL")] {
        let rig = Rig::with(|journal| {
            Probe::acting(journal, move |input, run| async move {
                run.defer_context(context("seen so far"));
                run.cancel_token().cancelled().await;
                if fails { Err(failure("DISK_FULL")) } else { Ok(Output { text: input.text }) }
            })
        })
        .await;
        tokio::spawn(rig.cancel_once_running());
        let outcome = rig.call("a").await;
        assert_eq!(code(&outcome), expected);
        assert_eq!(contexts(&outcome), ["seen so far"]);
        assert!(outcome.value.is_none());
        rig.end().await;
    }
}

async fn cancelled_soon(rig: &Rig) -> Arc<ToolOutcome> {
    let cancel = rig.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    rig.call("a").await
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_hangs_before_the_body_does_not_hold_the_cancellation_up() {
    let hangs = Rig::new().await;
    hangs.agent.around::<PreExecute, _>(|_, _| std::future::pending());
    assert_eq!(code(&cancelled_soon(&hangs).await), "ABORTED_BEFORE_DISPATCH");
    assert_eq!(hangs.journal.count("body"), 0);
    hangs.end().await;

    let hangs = Rig::new().await;
    hangs.agent.around::<Prepare, _>(|_, _| std::future::pending());
    assert_eq!(code(&cancelled_soon(&hangs).await), "ABORTED_BEFORE_DISPATCH");
    assert_eq!(hangs.journal.all(), ["finalize:error", "result:ABORTED_BEFORE_DISPATCH"]);
    hangs.end().await;
}

/// A body that needs a while to clean up after it was told to stop.
async fn tidy(notes: Journal, run: harness_tools::ToolRun) -> Ran {
    run.cancel_token().cancelled().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    notes.note("cleaned up");
    run.defer_context(context("left a partial file"));
    Err(failure("INTERRUPTED"))
}

#[tokio::test(start_paused = true)]
async fn a_body_that_a_wrapper_drops_is_stopped_and_awaited() {
    let rig = Rig::with(|journal| {
        let notes = journal.clone();
        Probe::acting(journal, move |_, run| tidy(notes.clone(), run))
    })
    .await;
    rig.agent.around::<Execute, _>(|event, next| async move {
        // Drops the rest half-way, which a careful wrapper would not do.
        let timeout = tokio::time::timeout(Duration::from_secs(1), next.run(event)).await;
        timeout.unwrap_or_else(|_| {
            Ok(ToolReturn::failure(ToolFailure::new(ToolFailureCode::TOOL_TIMEOUT, "took too long")))
        })
    });
    let outcome = rig.call("a").await;
    assert_eq!(
        rig.journal.all(),
        ["body:a", "cleaned up", "post:TOOL_TIMEOUT", "finalize:error", "result:TOOL_TIMEOUT"]
    );
    assert_eq!(contexts(&outcome), ["left a partial file"]);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_a_dropped_body_waits_for_it() {
    let rig = Rig::with(|journal| {
        let notes = journal.clone();
        Probe::acting(journal, move |input, run| {
            let notes = notes.clone();
            async move {
                let first = notes.count("body") == 1;
                if first { tidy(notes, run).await } else { Ok(Output { text: input.text }) }
            }
        })
    })
    .await;
    rig.agent.around::<Execute, _>(|event, next| async move {
        let first = tokio::time::timeout(Duration::from_secs(1), next.clone().run(event.clone())).await;
        assert!(first.is_err());
        next.run(event).await
    });
    let outcome = rig.call("a").await;
    assert_eq!(rig.journal.all()[..3], ["body:a", "cleaned up", "body:a"]);
    assert_eq!(code(&outcome), "ok");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_over_cannot_be_delegated_any_more() {
    let rig = Rig::new().await;
    let (go, journal) = (Arc::new(Notify::new()), rig.journal.clone());
    let late = Arc::clone(&go);
    rig.agent.around::<Execute, _>(move |event, next| {
        let (late, journal) = (Arc::clone(&late), journal.clone());
        async move {
            tokio::spawn(async move {
                late.notified().await;
                let outcome = next.run(event).await;
                journal.note(format!("late:{:?}", outcome.map(|_| "it ran")));
            });
            Ok(ToolReturn::failure(failure("GAVE_UP")))
        }
    });
    assert_eq!(code(&rig.call("a").await), "GAVE_UP");
    go.notify_one();
    while rig.journal.count("late") == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.journal.count("body"), 0);
    assert_eq!(
        rig.journal.all().last().unwrap(),
        "late:Err(ListenerError(\"a listener delegated a call that is over\"))"
    );
    rig.end().await;
}

/// The context is an agent's: when it ends, its tools end, and whoever waits for them is told.
#[tokio::test]
async fn a_body_ends_with_the_context_that_it_runs_in() {
    let rig = Rig::with(|journal| {
        let notes = journal.clone();
        Probe::acting(journal, move |_, _| {
            let notes = notes.clone();
            async move {
                notes.note("waiting");
                std::future::pending().await
            }
        })
    })
    .await;
    let (agent, journal) = (rig.agent.clone(), rig.journal.clone());
    tokio::spawn(async move {
        while journal.count("waiting") == 0 {
            tokio::task::yield_now().await;
        }
        agent.dispose().await.unwrap();
    });
    let outcome = rig.call("a").await;
    assert_eq!(code(&outcome), "ABORTED");
    assert_eq!(code(&rig.call("b").await), "ABORTED_BEFORE_DISPATCH");
    rig.end().await;
}
