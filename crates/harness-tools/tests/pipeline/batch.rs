//! The calls of one message: what overlaps, what waits, and in which order it is recorded.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harness_approval::{Answer, Approval, ApprovalRequest};
use harness_tools::{PostExecute, PostToolDecision, PreExecute, PreToolDecision, Prepare};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::batch_rig::{ALONE, Ledger, OVERLAPS, timed};
use crate::fixture::{Output, Probe, Rig, context};

#[tokio::test(start_paused = true)]
async fn bodies_overlap_and_records_keep_model_order() {
    let rig = Rig::with(timed).await;
    let calls = rig.requests(&[("30", OVERLAPS), ("20", OVERLAPS), ("10", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    let expected = [
        "started:c0",
        "started:c1",
        "started:c2",
        "barrier",
        "begin:c0",
        "begin:c1",
        "begin:c2",
        "end:c2",
        "end:c1",
        "end:c0",
        "finished:c0:ok",
        "finished:c1:ok",
        "finished:c2:ok",
    ];
    assert_eq!(rig.batch_journal(), expected);
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_result_is_recorded_as_soon_as_those_before_it_are() {
    let rig = Rig::with(timed).await;
    let calls = rig.requests(&[("10", OVERLAPS), ("30", OVERLAPS), ("20", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert!(rig.at("finished:c0:ok") < rig.at("end:c2"));
    assert!(rig.at("end:c2") < rig.at("finished:c1:ok"));
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_pool_is_bounded_and_rolls() {
    for (limit, most) in [(0, 1), (1, 1), (2, 2), (3, 3), (100, 6)] {
        let (running, highest) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (now, top) = (Arc::clone(&running), Arc::clone(&highest));
        let rig = Rig::with(move |journal| {
            Probe::acting(journal, move |input, _| {
                let (now, top) = (Arc::clone(&now), Arc::clone(&top));
                async move {
                    top.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(input.text.parse().unwrap())).await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    Ok(Output { text: input.text })
                }
            })
        })
        .await;
        let calls = rig.requests(&[("50", OVERLAPS), ("10", OVERLAPS), ("10", OVERLAPS), ("10", OVERLAPS)]);
        let calls = [calls, rig.requests(&[("10", OVERLAPS), ("10", OVERLAPS)])].concat();
        let before = tokio::time::Instant::now();
        rig.batch(calls, limit, &mut Ledger::new(&rig.journal)).await.unwrap();
        assert_eq!(highest.load(Ordering::SeqCst), most, "limit {limit}");
        if limit == 2 {
            let took = before.elapsed();
            assert_eq!(took.as_millis(), 50, "the slow one holds one place only");
        }
        rig.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_exclusive_call_is_a_barrier_on_both_sides() {
    let rig = Rig::with(timed).await;
    let calls =
        rig.requests(&[("30", OVERLAPS), ("10", OVERLAPS), ("5", ALONE), ("5", OVERLAPS), ("5", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert!(rig.at("finished:c1:ok") < rig.at("started:c2"), "{:?}", rig.batch_journal());
    assert!(rig.at("finished:c1:ok") < rig.at("begin:c2"));
    assert!(rig.at("end:c2") < rig.at("begin:c3"));
    assert!(rig.at("begin:c4") < rig.at("end:c3"), "after it, calls overlap again");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn policy_comes_in_model_order_one_call_at_a_time() {
    let rig = Rig::with(timed).await;
    let journal = rig.journal.clone();
    rig.agent.around::<PreExecute, _>(move |event, next| {
        let journal = journal.clone();
        async move {
            let id = event.0.id().to_owned();
            journal.note(format!("pre-begin:{id}"));
            // The first takes longest: without an order it would come last.
            let wait = 10 - 3 * u64::from(event.0.position());
            tokio::time::sleep(Duration::from_millis(wait)).await;
            journal.note(format!("pre-end:{id}"));
            next.run(event).await
        }
    });
    let calls = rig.requests(&[("20", OVERLAPS), ("20", OVERLAPS), ("20", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    let mut policy = rig.batch_journal();
    policy.retain(|entry| entry.starts_with("pre"));
    let expected = ["pre-begin:c0", "pre-end:c0", "pre-begin:c1", "pre-end:c1", "pre-begin:c2", "pre-end:c2"];
    assert_eq!(policy, expected);
    assert!(rig.at("begin:c0") < rig.at("pre-end:c1"), "an admitted body does not wait for the others");
    rig.end().await;
}

#[tokio::test(start_paused = true)]
async fn contexts_come_in_model_order_and_a_blocked_call_adds_only_its_own() {
    let rig = Rig::with(|journal| {
        Probe::acting(journal, |input, run| async move {
            tokio::time::sleep(Duration::from_millis(input.text.parse().unwrap())).await;
            run.defer_context(context(&format!("from {}", run.call().id())));
            Ok(Output { text: input.text })
        })
    })
    .await;
    rig.agent.around::<PostExecute, _>(|event, next| async move {
        if event.call.id() == "c1" {
            let contexts = vec![context("why c1 is blocked")];
            return Ok(PostToolDecision::Block { feedback: "no".to_owned(), contexts });
        }
        next.run(event).await
    });
    let calls = rig.requests(&[("30", OVERLAPS), ("20", OVERLAPS), ("10", OVERLAPS)]);
    let report = rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    let texts: Vec<String> = report.contexts.iter().map(harness_llm::Message::text).collect();
    assert_eq!(texts, ["from c0", "why c1 is blocked", "from c2"]);
    rig.end().await;
}

#[tokio::test]
async fn one_concluding_success_concludes_the_turn() {
    let rig = Rig::new().await;
    let mut ledger = Ledger::new(&rig.journal);
    let report = rig.batch(rig.requests(&[("a", ALONE), ("b", ALONE)]), 10, &mut ledger).await.unwrap();
    assert!(!report.concludes_turn);
    let report = rig.batch(rig.requests(&[("last", ALONE), ("b", ALONE)]), 10, &mut ledger).await.unwrap();
    assert!(report.concludes_turn);
    assert_eq!(rig.journal.count("body"), 4, "the calls after it still run");
    rig.end().await;
}

#[tokio::test]
async fn no_calls_are_no_work() {
    let rig = Rig::new().await;
    let report = rig.batch(Vec::new(), 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert!(report.contexts.is_empty() && rig.journal.all().is_empty());
    rig.end().await;
}

#[tokio::test]
async fn a_call_that_does_not_fit_is_answered_without_being_started_or_saved_for() {
    let rig = Rig::new().await;
    let calls = rig.requests_of(["[1,2]", "{\"text\":\"a\"", r#"{"text":"a"}"#].map(str::to_owned));
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    let expected =
        ["finished:c0:INVALID_ARGS", "finished:c1:INVALID_ARGS", "started:c2", "barrier", "finished:c2:ok"];
    assert_eq!(rig.batch_journal(), expected);
    rig.end().await;
}

#[tokio::test]
async fn a_call_whose_classifier_panics_runs_alone() {
    let rig = Rig::new().await;
    let calls = rig.requests(&[("a", OVERLAPS), ("classifier panics", OVERLAPS), ("b", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert_eq!(rig.finished(), ["c0:ok", "c1:ok", "c2:ok"]);
    assert!(rig.at("finished:c0:ok") < rig.at("started:c1"));
    assert!(rig.at("finished:c1:ok") < rig.at("started:c2"));
    rig.end().await;
}

/// Answers only when the result of the call before is recorded.
struct WaitsForRecord(crate::fixture::Journal);
#[async_trait::async_trait]
impl Approval for WaitsForRecord {
    async fn ask(&self, _request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
        self.0.note("asked");
        while self.0.count("finished:c0") == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Answer::AllowOnce
    }
}

#[tokio::test(start_paused = true)]
async fn a_pending_question_does_not_hold_up_the_results_before_it() {
    let rig = Rig::with(timed).await;
    rig.agent.provide::<dyn Approval>(Arc::new(WaitsForRecord(rig.journal.clone()))).unwrap();
    rig.agent.around::<PreExecute, _>(|event, next| async move {
        if event.0.id() == "c1" {
            return Ok(PreToolDecision::Ask { reason: None });
        }
        next.run(event).await
    });
    let calls = rig.requests(&[("10", OVERLAPS), ("10", OVERLAPS), ("10", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert!(rig.at("asked") < rig.at("finished:c0:ok"));
    assert!(rig.at("finished:c0:ok") < rig.at("begin:c1"));
    assert_eq!(rig.finished(), ["c0:ok", "c1:ok", "c2:ok"]);
    rig.end().await;
}

/// A call is classified by the arguments that run.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_rewritten_into_an_exclusive_one_runs_alone() {
    let rig = Rig::with(timed).await;
    rig.agent.around::<Prepare, _>(|prepare, next| {
        let mut arguments = prepare.arguments().clone();
        if prepare.call_id() == "c1" {
            arguments["parallel"] = json!(false);
        }
        next.run(prepare.rewrite("careful", arguments))
    });
    let calls = rig.requests(&[("10", OVERLAPS), ("10", OVERLAPS), ("10", OVERLAPS)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert!(rig.at("finished:c0:ok") < rig.at("started:c1"));
    assert!(rig.at("finished:c1:ok") < rig.at("begin:c2"));
    rig.end().await;
}

/// What a call means is decided when it is its turn, not while another one still runs.
#[tokio::test(start_paused = true)]
async fn a_tool_that_goes_away_during_the_batch_is_unknown_to_the_calls_after() {
    let rig = Rig::bare().await;
    let plugin = rig.app.ctx().fork("plugin");
    let owner = plugin.clone();
    let probe = Probe::acting(&rig.journal, move |input, _| {
        let owner = owner.clone();
        async move {
            owner.dispose().await.unwrap();
            Ok(Output { text: input.text })
        }
    });
    rig.tools.register(&plugin, probe).unwrap();
    let calls = rig.requests(&[("a", OVERLAPS), ("b", ALONE)]);
    rig.batch(calls, 10, &mut Ledger::new(&rig.journal)).await.unwrap();
    assert_eq!(rig.finished(), ["c0:ok", "c1:UNKNOWN_TOOL"]);
    rig.end().await;
}
