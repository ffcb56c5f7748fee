//! A batch that is cancelled, cannot be saved or cannot be recorded: nothing runs that should not, nothing is lost.
use std::sync::Arc;
use std::time::Duration;

use harness_approval::{Answer, Approval, ApprovalRequest};
use harness_tools::{PreExecute, PreToolDecision, Prepare, run_batch};
use tokio_util::sync::CancellationToken;

use crate::batch_rig::{ALONE, Ledger, OVERLAPS, timed};
use crate::fixture::{Output, Probe, Rig, explode};

fn note_policy(rig: &Rig) {
    let journal = rig.journal.clone();
    rig.agent.around::<PreExecute, _>(move |event, next| {
        journal.note(format!("pre:{}", event.0.id()));
        next.run(event)
    });
}

#[tokio::test]
async fn a_batch_that_is_cancelled_before_it_starts_answers_every_call() {
    let rig = Rig::new().await;
    note_policy(&rig);
    rig.cancel.cancel();
    let calls = rig.requests(&[("a", OVERLAPS), ("b", ALONE), ("c", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    let answer = |id: &str| {
        let code = "ABORTED_BEFORE_DISPATCH";
        ["finalize:error".to_owned(), format!("result:{code}"), format!("finished:{id}:{code}")]
    };
    assert_eq!(rig.journal.all(), ["c0", "c1", "c2"].map(answer).concat());
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_cancellation_started_bodies_are_awaited_and_nothing_new_starts() {
    let rig = Rig::with(timed).await;
    let cancel = rig.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        cancel.cancel();
    });
    let calls = rig.requests(&[("20", OVERLAPS), ("10", OVERLAPS), ("10", OVERLAPS), ("10", ALONE)]);
    rig.batch(calls, 2, &mut Ledger::new(&rig.journal)).await.unwrap();
    let expected = [
        "started:c0",
        "started:c1",
        "barrier",
        "begin:c0",
        "begin:c1",
        "end:c1",
        "end:c0",
        "finished:c0:ABORTED",
        "finished:c1:ABORTED",
        "finished:c2:ABORTED_BEFORE_DISPATCH",
        "finished:c3:ABORTED_BEFORE_DISPATCH",
    ];
    assert_eq!(rig.batch_journal(), expected);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_asked_about_is_answered_when_the_batch_is_cancelled() {
    struct Cancels(CancellationToken);
    #[async_trait::async_trait]
    impl Approval for Cancels {
        async fn ask(&self, _request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
            self.0.cancel();
            std::future::pending().await
        }
    }
    let rig = Rig::with(timed).await;
    note_policy(&rig);
    rig.agent.provide::<dyn Approval>(Arc::new(Cancels(rig.cancel.clone()))).unwrap();
    rig.agent.around::<PreExecute, _>(|event, next| async move {
        if event.0.id() == "c1" {
            return Ok(PreToolDecision::Ask { reason: None });
        }
        next.run(event).await
    });
    let calls = rig.requests(&[("10", OVERLAPS), ("10", OVERLAPS), ("10", OVERLAPS), ("10", ALONE)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert_eq!(
        rig.finished(),
        [
            "c0:ABORTED",
            "c1:ABORTED_BEFORE_DISPATCH",
            "c2:ABORTED_BEFORE_DISPATCH",
            "c3:ABORTED_BEFORE_DISPATCH"
        ]
    );
    assert_eq!((rig.journal.count("begin"), rig.journal.count("pre:")), (1, 2));
    rig.end().await;
}

/// Cancelled after the calls were recorded as started: they are answered, and no body runs.
#[tokio::test]
async fn a_cancellation_at_the_barrier_starts_no_body() {
    let rig = Rig::new().await;
    note_policy(&rig);
    let cancel = rig.cancel.clone();
    let mut ledger = Ledger::new(&rig.journal).at_barrier(move |_| {
        cancel.cancel();
        Ok(())
    });
    let calls = rig.requests(&[("a", OVERLAPS), ("b", OVERLAPS), ("c", ALONE)]);
    rig.batch(calls, 10, &mut ledger).await.unwrap();
    let code = "ABORTED_BEFORE_DISPATCH";
    let expected = [
        "started:c0".to_owned(),
        "started:c1".to_owned(),
        "barrier".to_owned(),
        format!("finished:c0:{code}"),
        format!("finished:c1:{code}"),
        format!("finished:c2:{code}"),
    ];
    assert_eq!(rig.batch_journal(), expected);
    rig.end().await;
}

#[tokio::test]
async fn a_cancellation_while_a_call_is_prepared_does_not_record_it_as_started() {
    let rig = Rig::new().await;
    let cancel = rig.cancel.clone();
    rig.agent.around::<Prepare, _>(move |prepare, next| {
        if prepare.call_id() == "c1" {
            cancel.cancel();
        }
        next.run(prepare)
    });
    let calls = rig.requests(&[("a", OVERLAPS), ("b", OVERLAPS), ("c", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert_eq!(rig.journal.count("started"), 1);
    assert_eq!(rig.journal.count("body"), 0);
    assert_eq!(rig.finished(), ["c0", "c1", "c2"].map(|id| format!("{id}:ABORTED_BEFORE_DISPATCH")));
    rig.end().await;
}

/// The batch's own cancellation counts even where a caller did not tie the calls to it.
#[tokio::test(start_paused = true)]
async fn calls_with_a_token_of_their_own_are_not_started_after_the_cancellation() {
    let rig = Rig::with(timed).await;
    tokio::spawn(rig.cancel_once_running());
    let mut calls = rig.requests(&[("10", ALONE), ("10", ALONE), ("10", ALONE)]);
    for call in &mut calls {
        call.cancel = CancellationToken::new();
    }
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    let aborted = "ABORTED_BEFORE_DISPATCH";
    assert_eq!(rig.finished(), ["c0:ok".to_owned(), format!("c1:{aborted}"), format!("c2:{aborted}")]);
    rig.end().await;
}

#[tokio::test]
async fn nor_are_those_that_were_recorded_as_started_just_before() {
    let rig = Rig::new().await;
    let cancel = rig.cancel.clone();
    let mut ledger = Ledger::new(&rig.journal).at_barrier(move |_| {
        cancel.cancel();
        Ok(())
    });
    let mut calls = rig.requests(&[("a", OVERLAPS), ("b", OVERLAPS)]);
    for call in &mut calls {
        call.cancel = CancellationToken::new();
    }
    rig.batch(calls, 10, &mut ledger).await.unwrap();
    assert_eq!((rig.journal.count("started"), rig.journal.count("body")), (2, 0));
    rig.end().await;
}

#[tokio::test]
async fn what_cannot_be_saved_meets_neither_policy_nor_body() {
    let rig = Rig::new().await;
    note_policy(&rig);
    let full = |at| if at == 0 { Err("disk full".to_owned()) } else { Ok(()) };
    let mut ledger = Ledger::new(&rig.journal).at_barrier(full);
    let calls = rig.requests(&[("a", OVERLAPS), ("b", OVERLAPS), ("c", ALONE)]);
    rig.batch(calls, 10, &mut ledger).await.unwrap();
    let expected = [
        "started:c0",
        "started:c1",
        "barrier",
        "finished:c0:NOT_DURABLE",
        "finished:c1:NOT_DURABLE",
        "started:c2",
        "barrier",
        "pre:c2",
        "finished:c2:ok",
    ];
    assert_eq!(rig.batch_journal(), expected);
    assert_eq!(rig.journal.count("body"), 1);
    assert_eq!(rig.journal.count("finalize"), 3);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_start_ends_the_batch_but_loses_nothing_that_ran() {
    let rig = Rig::with(timed).await;
    let mut ledger = Ledger::new(&rig.journal).refusing("started:c3");
    let calls =
        rig.requests(&[("20", OVERLAPS), ("10", OVERLAPS), ("5", OVERLAPS), ("5", OVERLAPS), ("5", ALONE)]);
    let error = rig.batch(calls, 2, &mut ledger).await.unwrap_err();
    assert_eq!(error.code(), "tool-batch-not-recorded");
    assert!(error.to_string().contains("started:c3 does not fit"), "{error}");
    assert_eq!(rig.finished(), ["c0:ok", "c1:ok", "c2:ok"]);
    assert_eq!(rig.journal.count("begin"), 3);
    rig.end().await;
}

#[tokio::test]
async fn what_was_recorded_as_started_with_a_refused_call_is_answered_and_does_not_run() {
    let rig = Rig::new().await;
    note_policy(&rig);
    let mut ledger = Ledger::new(&rig.journal).refusing("started:c1");
    let calls = rig.requests(&[("a", OVERLAPS), ("b", OVERLAPS), ("c", OVERLAPS)]);
    rig.batch(calls, 10, &mut ledger).await.unwrap_err();
    assert_eq!(rig.batch_journal(), ["started:c0", "refused:started:c1", "finished:c0:NOT_DURABLE"]);
    assert_eq!(rig.journal.count("body"), 0);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_result_ends_the_batch_when_all_bodies_have_ended() {
    let rig = Rig::with(timed).await;
    let mut ledger = Ledger::new(&rig.journal).refusing("finished:c0");
    let calls = rig.requests(&[("10", OVERLAPS), ("50", OVERLAPS), ("5", ALONE)]);
    rig.batch(calls, 10, &mut ledger).await.unwrap_err();
    let expected = [
        "started:c0",
        "started:c1",
        "barrier",
        "begin:c0",
        "begin:c1",
        "end:c0",
        "refused:finished:c0",
        "end:c1",
    ];
    assert_eq!(rig.batch_journal(), expected, "nothing more is told, and no body is left behind");
    rig.end().await;
}

#[tokio::test]
async fn a_panicking_body_does_not_lose_the_others() {
    let rig = Rig::with(|journal| {
        Probe::acting(journal, |input, _| async move {
            match input.text.as_str() {
                "panic" => explode("c1"),
                _ => Ok(Output { text: input.text }),
            }
        })
    })
    .await;
    let calls = rig.requests(&[("a", OVERLAPS), ("panic", OVERLAPS), ("b", OVERLAPS), ("c", ALONE)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert_eq!(rig.finished(), ["c0:ok", "c1:TOOL_PANICKED", "c2:ok", "c3:ok"]);
    rig.end().await;
}

/// A caller that goes away without cancelling: bodies are told to stop.
#[tokio::test(start_paused = true)]
async fn a_dropped_batch_stops_its_bodies() {
    let rig = Rig::with(|journal| {
        let notes = journal.clone();
        Probe::acting(journal, move |input, run| {
            let notes = notes.clone();
            async move {
                run.cancel_token().cancelled().await;
                tokio::time::sleep(Duration::from_millis(5)).await;
                notes.note("stopped");
                Ok(Output { text: input.text })
            }
        })
    })
    .await;
    let mut ledger = Ledger::new(&rig.journal);
    let calls = rig.requests(&[("a", OVERLAPS), ("b", OVERLAPS)]);
    let batch = run_batch(&rig.tools, &rig.agent, calls, 10, &rig.cancel, &mut ledger);
    assert!(tokio::time::timeout(Duration::from_millis(50), batch).await.is_err());
    let stopped = async {
        while rig.journal.count("stopped") < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_hours(1), stopped).await.expect("the bodies are told to stop");
    rig.end().await;
}
