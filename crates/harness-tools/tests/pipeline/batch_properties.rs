//! Random batches under random aborts: every call is answered exactly once, in order, and nothing runs that may not.
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use harness_approval::{Answer, Approval, ApprovalRequest};
use harness_tools::{
    BatchError, BatchSink, CallRequest, PostExecute, PreExecute, PreToolDecision, Prepare, ToolCall,
    ToolOutcome, ToolResultNotice, run_batch,
};
use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Output, Probe, Rig, code, explode, failure};

/// What one call does. Times are units of waiting: milliseconds of a paused clock, or turns of the scheduler.
#[derive(Debug, Clone)]
struct Script {
    kind: Kind,
    parallel: bool,
    prepare: u64,
    policy: u64,
    body: u64,
    settle: u64,
    /// Whether the body stops when it is told to.
    obeys: bool,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Succeed,
    Fail,
    Panic,
    Deny,
    AskAllowed,
    AskRejected,
    Guarded,
    PolicyPanics,
    Invalid,
    Unknown,
}
use Kind::{AskAllowed, AskRejected, Deny, Fail, Guarded, Invalid, Panic, PolicyPanics, Succeed, Unknown};

#[derive(Debug, Clone)]
struct Plan {
    calls: Vec<Script>,
    limit: usize,
    /// When the batch is cancelled; 0 is before it starts.
    abort: Option<u64>,
    barrier: u64,
    /// Which barrier fails.
    unsaved: Option<usize>,
}

fn script() -> impl Strategy<Value = Script> {
    let kind = prop_oneof![
        6 => Just(Succeed),
        1 => Just(Fail),
        1 => Just(Panic),
        1 => Just(Deny),
        2 => Just(AskAllowed),
        1 => Just(AskRejected),
        1 => Just(Guarded),
        1 => Just(PolicyPanics),
        1 => Just(Invalid),
        1 => Just(Unknown),
    ];
    (kind, prop::bool::weighted(0.7), 0..4u64, 0..10u64, 0..40u64, 0..6u64, any::<bool>()).prop_map(
        |(kind, parallel, prepare, policy, body, settle, obeys)| Script {
            kind,
            parallel,
            prepare,
            policy,
            body,
            settle,
            obeys,
        },
    )
}

fn plan() -> impl Strategy<Value = Plan> {
    let abort = prop::option::of(prop_oneof![1 => Just(0u64), 6 => 0..120u64]);
    (
        prop::collection::vec(script(), 0..14),
        1..5usize,
        abort,
        0..4u64,
        prop::option::weighted(0.2, 0..3usize),
    )
        .prop_map(|(calls, limit, abort, barrier, unsaved)| Plan {
            calls,
            limit,
            abort,
            barrier,
            unsaved,
        })
}

/// How waiting is done.
#[derive(Debug, Clone, Copy)]
enum Clock {
    Paused,
    Scheduler,
}
impl Clock {
    async fn wait(self, units: u64) {
        match self {
            Self::Paused => tokio::time::sleep(Duration::from_millis(units)).await,
            Self::Scheduler => {
                for _ in 0..units {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}

/// What was seen, and every rule that was seen broken.
#[derive(Default)]
struct Seen {
    started: BTreeSet<u32>,
    /// Started and saved.
    durable: BTreeSet<u32>,
    running: BTreeSet<u32>,
    ran: BTreeSet<u32>,
    policy: Vec<u32>,
    transformed: Vec<u32>,
    noticed: Vec<u32>,
    finished: Vec<(u32, String)>,
    barriers: usize,
    broken: Vec<String>,
}

#[derive(Clone)]
struct World {
    plan: Arc<Plan>,
    clock: Clock,
    cancel: CancellationToken,
    seen: Arc<Mutex<Seen>>,
}
impl World {
    fn see<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap())
    }
    /// Whether nothing may overlap the call.
    fn alone(&self, position: u32) -> bool {
        let script = &self.plan.calls[position as usize];
        !script.parallel || matches!(script.kind, Invalid | Unknown)
    }
    fn script(&self, position: u32) -> Script {
        self.plan.calls[position as usize].clone()
    }
    fn body_begins(&self, position: u32, cancelled: bool) {
        self.see(|seen| {
            let mut wrong = |what: String| seen.broken.push(what);
            if cancelled {
                wrong(format!("body {position} starts after the cancellation"));
            }
            if !seen.durable.contains(&position) {
                wrong(format!("body {position} starts before it is saved"));
            }
            if !seen.ran.insert(position) {
                wrong(format!("body {position} runs twice"));
            }
            let alone = |at: &u32| self.alone(*at);
            if !seen.running.is_empty() && (alone(&position) || seen.running.iter().any(alone)) {
                wrong(format!("body {position} overlaps {:?}", seen.running));
            }
            seen.running.insert(position);
            if seen.running.len() > self.plan.limit {
                wrong(format!("{} bodies run with a limit of {}", seen.running.len(), self.plan.limit));
            }
        });
    }
}

struct Sink(World);
#[async_trait]
impl BatchSink for Sink {
    fn started(&mut self, call: &ToolCall) -> Result<(), BatchError> {
        let here = call.position();
        self.0.see(|seen| {
            if !seen.started.insert(here) {
                seen.broken.push(format!("{} is started twice", call.id()));
            }
            let waits = |before: u32| self.0.alone(here) || self.0.alone(before);
            let answered = |before: u32| seen.finished.iter().any(|(at, _)| *at == before);
            let overtaken = (0..here).find(|before| waits(*before) && !answered(*before));
            if let Some(before) = overtaken {
                seen.broken.push(format!("{} is started before c{before} is answered", call.id()));
            }
        });
        Ok(())
    }
    async fn barrier(&mut self) -> Result<(), String> {
        let (covered, at) = self.0.see(|seen| {
            seen.barriers += 1;
            (seen.started.clone(), seen.barriers - 1)
        });
        self.0.clock.wait(self.0.plan.barrier).await;
        if self.0.plan.unsaved == Some(at) {
            return Err("disk full".to_owned());
        }
        self.0.see(|seen| seen.durable.extend(covered));
        Ok(())
    }
    fn finished(&mut self, call: &ToolCall, outcome: &ToolOutcome) -> Result<(), BatchError> {
        self.0.see(|seen| {
            if seen.running.contains(&call.position()) {
                seen.broken.push(format!("{} is answered while its body runs", call.id()));
            }
            seen.finished.push((call.position(), code(outcome)));
        });
        Ok(())
    }
}

struct Answers(World);
#[async_trait]
impl Approval for Answers {
    async fn ask(&self, request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
        let position: u32 = request.call_id.unwrap()[1..].parse().unwrap();
        let script = self.0.script(position);
        self.0.clock.wait(script.policy * 3).await;
        if script.kind == AskAllowed { Answer::AllowOnce } else { Answer::Reject { reason: None } }
    }
}

async fn arrange(world: &World) -> Rig {
    let mut rig = Rig::bare().await;
    rig.cancel = world.cancel.clone();
    let here = world.clone();
    let probe = Probe::acting(&rig.journal, move |input, run| {
        let here = here.clone();
        async move {
            let position = run.call().position();
            // The token is read first: a cancellation in between is none of the batch's doing.
            let cancelled = matches!(here.clock, Clock::Paused) && here.cancel.is_cancelled();
            here.body_begins(position, cancelled);
            let script = here.script(position);
            let work = here.clock.wait(script.body);
            if script.obeys {
                run.cancel_token().run_until_cancelled(work).await;
            } else {
                work.await;
            }
            here.see(|seen| seen.running.remove(&position));
            match script.kind {
                Panic => explode("a body"),
                Fail => Err(failure("BROKEN")),
                _ => Ok(Output { text: input.text }),
            }
        }
    });
    rig.tools.register(rig.app.ctx(), probe).unwrap();
    rig.agent.provide::<dyn Approval>(Arc::new(Answers(world.clone()))).unwrap();
    let here = world.clone();
    rig.agent.around::<Prepare, _>(move |prepare, next| {
        let (here, position) = (here.clone(), prepare.call_id()[1..].parse().unwrap());
        async move {
            here.clock.wait(here.script(position).prepare).await;
            next.run(prepare).await
        }
    });
    let here = world.clone();
    rig.agent.around::<PreExecute, _>(move |event, next| {
        let here = here.clone();
        async move {
            let position = event.0.position();
            here.see(|seen| seen.policy.push(position));
            let script = here.script(position);
            here.clock.wait(script.policy).await;
            match script.kind {
                Deny => Ok(PreToolDecision::deny("no")),
                AskAllowed | AskRejected => Ok(PreToolDecision::Ask { reason: None }),
                PolicyPanics => explode("policy"),
                _ => next.run(event).await,
            }
        }
    });
    let here = world.clone();
    rig.tools.guard(&rig.agent, "guard", move |call| {
        (here.script(call.position()).kind == Guarded).then(|| "no".to_owned())
    });
    let here = world.clone();
    rig.agent.around::<PostExecute, _>(move |event, next| {
        let here = here.clone();
        async move {
            let position = event.call.position();
            here.see(|seen| seen.transformed.push(position));
            here.clock.wait(here.script(position).settle).await;
            next.run(event).await
        }
    });
    let here = world.clone();
    rig.agent.on::<ToolResultNotice>(move |notice| {
        here.see(|seen| seen.noticed.push(notice.call.position()));
    });
    rig
}

fn request(rig: &Rig, script: &Script, position: u32) -> CallRequest {
    let arguments = match script.kind {
        Invalid => "[1,2".to_owned(),
        _ => json!({ "text": "a", "parallel": script.parallel }).to_string(),
    };
    CallRequest {
        id: format!("c{position}"),
        name: if script.kind == Unknown { "nothing".to_owned() } else { "probe".to_owned() },
        position,
        ..rig.request(&arguments)
    }
}

/// Runs a plan and gives what was seen.
async fn play(plan: Plan, clock: Clock) -> Seen {
    let cancel = CancellationToken::new();
    let world = World { plan: Arc::new(plan), clock, cancel, seen: Arc::default() };
    let rig = arrange(&world).await;
    let scripts = world.plan.calls.iter().zip(0..);
    let requests: Vec<CallRequest> = scripts.map(|(script, at)| request(&rig, script, at)).collect();
    let mut sink = Sink(world.clone());
    let (cancel, abort) = (world.cancel.clone(), world.plan.abort);
    if abort == Some(0) {
        cancel.cancel();
    }
    let aborting = tokio::spawn(async move {
        if let Some(at) = abort {
            clock.wait(at).await;
            cancel.cancel();
        }
    });
    let batch = run_batch(&rig.tools, &rig.agent, requests, world.plan.limit, &world.cancel, &mut sink);
    let report = tokio::time::timeout(Duration::from_hours(1), batch).await.expect("the batch never ends");
    report.unwrap();
    aborting.await.unwrap();
    let finalized = rig.journal.count("finalize");
    let known = world.plan.calls.iter().filter(|script| script.kind != Unknown).count();
    rig.end().await;
    let mut seen = std::mem::take(&mut *world.seen.lock().unwrap());
    if finalized != known {
        seen.broken.push(format!("{finalized} last words for {known} calls of a known tool"));
    }
    seen
}

fn check(plan: &Plan, seen: &Seen) {
    let all: Vec<u32> = (0..).zip(&plan.calls).map(|(at, _)| at).collect();
    assert_eq!(seen.broken, Vec::<String>::new());
    assert!(seen.running.is_empty(), "bodies are left behind: {:?}", seen.running);
    let answered: Vec<u32> = seen.finished.iter().map(|(at, _)| *at).collect();
    assert_eq!(answered, all, "each call is answered once, in model order");
    assert_eq!(seen.noticed, all, "and so are observers told");
    assert!(
        seen.policy.is_sorted() && seen.transformed.is_sorted(),
        "{:?} {:?}",
        seen.policy,
        seen.transformed
    );
    for (at, code) in &seen.finished {
        let kind = plan.calls[*at as usize].kind;
        let expected: &[&str] = match kind {
            Succeed | AskAllowed => &["ok", "ABORTED"],
            Fail => &["BROKEN"],
            Panic => &["TOOL_PANICKED"],
            Deny | AskRejected => &["DENIED"],
            Guarded => &["GUARD_DENIED"],
            PolicyPanics => &["LISTENER_FAILED"],
            Invalid => &["INVALID_ARGS"],
            Unknown => &["UNKNOWN_TOOL"],
        };
        let aborted = plan.abort.is_some() && code == "ABORTED_BEFORE_DISPATCH";
        let unsaved = plan.unsaved.is_some() && code == "NOT_DURABLE";
        assert!(expected.contains(&code.as_str()) || aborted || unsaved, "c{at} {kind:?} is {code}");
        assert!(code != "ABORTED" || plan.abort.is_some(), "c{at} is aborted though nobody cancelled");
        let must_have_run = ["ok", "ABORTED", "BROKEN", "TOOL_PANICKED"].contains(&code.as_str());
        assert_eq!(must_have_run, seen.ran.contains(at), "c{at} {kind:?} is {code}");
    }
}

fn on_paused_clock(plan: Plan) -> Seen {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(play(plan, Clock::Paused))
}

fn on_threads(plan: Plan) -> Seen {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async { tokio::spawn(play(plan, Clock::Scheduler)).await.unwrap() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_is_answered_once_under_any_abort(plan in plan()) {
        check(&plan, &on_paused_clock(plan.clone()));
    }

    /// The same with real threads, where a cancellation can fall between any two instructions.
    #[test]
    fn every_call_is_answered_once_on_real_threads(plan in plan()) {
        check(&plan, &on_threads(plan.clone()));
    }
}

/// The plan that the random ones must not miss: a full pool, an exclusive call in the middle, one abort at each tick.
#[test]
fn every_abort_point_of_one_busy_batch() {
    let call =
        |kind, parallel| Script { kind, parallel, prepare: 1, policy: 2, body: 7, settle: 1, obeys: true };
    let calls = vec![
        call(Succeed, true),
        call(AskAllowed, true),
        call(Panic, true),
        call(Succeed, false),
        call(Invalid, true),
        call(AskAllowed, false),
        call(Deny, true),
        call(Succeed, true),
    ];
    let mut codes = BTreeSet::new();
    for abort in 0..90 {
        let plan = Plan { calls: calls.clone(), limit: 2, abort: Some(abort), barrier: 1, unsaved: None };
        let seen = on_paused_clock(plan.clone());
        check(&plan, &seen);
        codes.extend(seen.finished.into_iter().map(|(_, code)| code));
    }
    let expected = ["ABORTED", "ABORTED_BEFORE_DISPATCH", "DENIED", "INVALID_ARGS", "TOOL_PANICKED", "ok"];
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), expected, "the aborts fall everywhere");
}
