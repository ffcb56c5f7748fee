//! Asking fails closed, and each question is told of exactly twice.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use harness_approval::{Answer, Approval, ApprovalNotice, ApprovalOutcome, ApprovalRequest, resolve};
use harness_kernel::{App, Ctx, Running};
use harness_session::SessionId;
use tokio_util::sync::CancellationToken;

fn request() -> ApprovalRequest {
    ApprovalRequest {
        session: SessionId::generate(),
        tool: "bash".into(),
        call_id: Some("c1".into()),
        arguments: r#"{"command":"make deploy"}"#.into(),
        reason: Some("touches production".into()),
    }
}

type Told = Arc<Mutex<Vec<(String, Option<ApprovalOutcome>)>>>;

/// An app whose notices are kept.
async fn start() -> (Running, Told) {
    let app = App::default().start().await.unwrap();
    let told = Told::default();
    let into = Arc::clone(&told);
    app.ctx().on::<ApprovalNotice>(move |notice| {
        assert_eq!(notice.request.tool, "bash");
        into.lock().unwrap().push((notice.id.clone(), notice.outcome.clone()));
    });
    (app, told)
}

/// Asserts that one question was asked and decided, in this order and with this outcome.
fn assert_told_twice(told: &Told, outcome: &ApprovalOutcome) {
    let told = told.lock().unwrap().clone();
    let [(asked, None), (decided, Some(how))] = &told[..] else { panic!("{told:?}") };
    assert_eq!((asked, how), (decided, outcome));
}

struct Says(fn() -> Answer);
#[async_trait]
impl Approval for Says {
    async fn ask(&self, request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
        assert_eq!(request.arguments, r#"{"command":"make deploy"}"#);
        (self.0)()
    }
}

/// Panics before there is a future, as an answerer without `async` may.
struct PanicsEarly;
impl Approval for PanicsEarly {
    fn ask<'a, 'b>(
        &'a self,
        _request: ApprovalRequest,
        _cancel: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        panic!("the terminal is gone")
    }
}

#[tokio::test]
async fn only_allow_once_allows() {
    let unavailable = |detail: &str| ApprovalOutcome::Unavailable { detail: detail.into() };
    let rejected = |reason: Option<&str>| ApprovalOutcome::Rejected { reason: reason.map(Into::into) };
    let cases: [(Option<Arc<dyn Approval>>, ApprovalOutcome); 7] = [
        (None, unavailable("nobody can be asked in this run")),
        (Some(Arc::new(Says(|| Answer::AllowOnce))), ApprovalOutcome::AllowedOnce),
        (Some(Arc::new(Says(|| Answer::Reject { reason: None }))), rejected(None)),
        (Some(Arc::new(Says(|| Answer::Reject { reason: Some("no".into()) }))), rejected(Some("no"))),
        (Some(Arc::new(Says(|| Answer::Unavailable))), unavailable("the answerer is not available")),
        (
            Some(Arc::new(Says(|| panic!("the terminal is gone")))),
            unavailable("the answerer failed: panicked: the terminal is gone"),
        ),
        (Some(Arc::new(PanicsEarly)), unavailable("the answerer failed: panicked: the terminal is gone")),
    ];
    for (answerer, expected) in cases {
        let (app, told) = start().await;
        if let Some(answerer) = answerer {
            app.ctx().provide::<dyn Approval>(answerer).unwrap();
        }
        let outcome = resolve(app.ctx(), request(), &CancellationToken::new()).await;
        assert_eq!(outcome, expected);
        assert_told_twice(&told, &expected);
        app.shutdown().await.unwrap();
    }
}

/// Never answers by itself; counts who asks and who lets go.
#[derive(Default)]
struct Hesitates {
    asked: AtomicUsize,
    dropped: Arc<AtomicUsize>,
    token: Mutex<Option<CancellationToken>>,
    then: Option<(CancellationToken, Answer)>,
}
struct CountsDrop(Arc<AtomicUsize>);
impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
#[async_trait]
impl Approval for Hesitates {
    async fn ask(&self, _request: ApprovalRequest, cancel: CancellationToken) -> Answer {
        let _counts = CountsDrop(Arc::clone(&self.dropped));
        self.asked.fetch_add(1, Ordering::SeqCst);
        *self.token.lock().unwrap() = Some(cancel);
        match &self.then {
            // The turn is cancelled, and the person answers in the same moment.
            Some((turn, answer)) => {
                turn.cancel();
                answer.clone()
            }
            None => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn a_cancelled_turn_asks_nobody() {
    let (app, told) = start().await;
    let answerer = Arc::new(Hesitates::default());
    app.ctx().provide::<dyn Approval>(Arc::clone(&answerer) as _).unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(resolve(app.ctx(), request(), &cancel).await, ApprovalOutcome::Cancelled);
    assert_eq!(answerer.asked.load(Ordering::SeqCst), 0);
    assert_told_twice(&told, &ApprovalOutcome::Cancelled);
    app.shutdown().await.unwrap();
}

async fn until(what: impl Fn() -> bool) {
    while !what() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_cancellation_takes_the_question_back() {
    let (app, told) = start().await;
    let answerer = Arc::new(Hesitates::default());
    app.ctx().provide::<dyn Approval>(Arc::clone(&answerer) as _).unwrap();
    let cancel = CancellationToken::new();
    let (asking, turn) = (Arc::clone(&answerer), cancel.clone());
    tokio::spawn(async move {
        until(|| asking.asked.load(Ordering::SeqCst) == 1).await;
        turn.cancel();
    });
    assert_eq!(resolve(app.ctx(), request(), &cancel).await, ApprovalOutcome::Cancelled);
    assert_eq!(answerer.dropped.load(Ordering::SeqCst), 1);
    assert!(answerer.token.lock().unwrap().as_ref().unwrap().is_cancelled(), "a dialog elsewhere can close");
    assert_told_twice(&told, &ApprovalOutcome::Cancelled);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_answer_that_comes_with_the_cancellation_does_not_count() {
    let (app, told) = start().await;
    let cancel = CancellationToken::new();
    let answerer = Hesitates { then: Some((cancel.clone(), Answer::AllowOnce)), ..Hesitates::default() };
    app.ctx().provide::<dyn Approval>(Arc::new(answerer)).unwrap();
    assert_eq!(resolve(app.ctx(), request(), &cancel).await, ApprovalOutcome::Cancelled);
    assert_told_twice(&told, &ApprovalOutcome::Cancelled);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_question_whose_asker_goes_away_is_decided_all_the_same() {
    let (app, told) = start().await;
    let answerer = Arc::new(Hesitates::default());
    app.ctx().provide::<dyn Approval>(Arc::clone(&answerer) as _).unwrap();
    let asked = Arc::clone(&answerer);
    let cancel = CancellationToken::new();
    tokio::select! {
        outcome = resolve(app.ctx(), request(), &cancel) => panic!("{outcome:?}"),
        () = until(|| asked.asked.load(Ordering::SeqCst) == 1) => {}
    }
    assert_told_twice(&told, &ApprovalOutcome::Cancelled);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_nearest_answerer_is_asked_and_a_gone_one_is_not() {
    let (app, told) = start().await;
    let root = app.ctx();
    root.provide::<dyn Approval>(Arc::new(Says(|| Answer::AllowOnce))).unwrap();
    let (agent, other) = (root.scope("agent"), root.scope("other"));
    let plugin = agent.fork("plugin");
    plugin.provide::<dyn Approval>(Arc::new(Says(|| Answer::Reject { reason: None }))).unwrap();
    let ask = async |ctx: &Ctx| resolve(ctx, request(), &CancellationToken::new()).await;
    assert_eq!(ask(&agent).await, ApprovalOutcome::Rejected { reason: None });
    assert_eq!(ask(&other).await, ApprovalOutcome::AllowedOnce);
    plugin.dispose().await.unwrap();
    assert_eq!(ask(&agent).await, ApprovalOutcome::AllowedOnce);
    let told = told.lock().unwrap().clone();
    let ids: std::collections::BTreeSet<&String> = told.iter().map(|(id, _)| id).collect();
    assert_eq!((told.len(), ids.len()), (6, 3), "each question has an identity of its own");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_observer_that_panics_changes_nothing() {
    let (app, told) = start().await;
    app.ctx().provide::<dyn Approval>(Arc::new(Says(|| Answer::AllowOnce))).unwrap();
    app.ctx().on::<ApprovalNotice>(|_| panic!("an observer exploded"));
    let outcome = resolve(app.ctx(), request(), &CancellationToken::new()).await;
    assert_eq!(outcome, ApprovalOutcome::AllowedOnce);
    assert_told_twice(&told, &ApprovalOutcome::AllowedOnce);
    app.shutdown().await.unwrap();
}
