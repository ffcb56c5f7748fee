//! Questions and decisions in the log of a real session.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use async_trait::async_trait;
use harness_approval::{
    Answer, Approval, ApprovalAsked, ApprovalDecided, ApprovalLog, ApprovalOutcome, ApprovalRequest, resolve,
};
use harness_kernel::{App, Running};
use harness_session::{Body, Session, SessionHeader, SessionId, SessionPlugin, Sessions};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

async fn start() -> (Running, Arc<Sessions>) {
    let app = App::default().with(ApprovalLog).with(SessionPlugin::default()).start().await.unwrap();
    let sessions = app.ctx().service::<Sessions>().unwrap();
    (app, sessions)
}
fn session(app: &Running, sessions: &Sessions) -> Arc<Session> {
    sessions.create(app.ctx(), SessionHeader::new(0, None), Vec::new()).unwrap()
}
fn request(session: SessionId) -> ApprovalRequest {
    ApprovalRequest {
        session,
        tool: "bash".into(),
        call_id: Some("c1".into()),
        arguments: "{}".into(),
        reason: Some("touches production".into()),
    }
}
/// Type and data of every event.
fn logged(session: &Session) -> Vec<(String, Value)> {
    let data = |body: &Body| match body {
        Body::Plugin(data) => serde_json::from_str(data.raw().get()).unwrap(),
        other => panic!("{other:?}"),
    };
    session.view().iter().map(|event| (event.body.type_name().to_owned(), data(&event.body))).collect()
}

struct Says(Answer);
#[async_trait]
impl Approval for Says {
    async fn ask(&self, _request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
        self.0.clone()
    }
}

#[tokio::test]
async fn each_question_is_logged_once_as_asked_and_once_as_decided() {
    let cases = [
        (Some(Answer::AllowOnce), json!({ "kind": "allowed-once" })),
        (Some(Answer::Reject { reason: None }), json!({ "kind": "rejected" })),
        (Some(Answer::Reject { reason: Some("no".into()) }), json!({ "kind": "rejected", "reason": "no" })),
        (None, json!({ "kind": "unavailable", "detail": "nobody can be asked in this run" })),
    ];
    for (answer, outcome) in cases {
        let (app, sessions) = start().await;
        let (asked_in, other) = (session(&app, &sessions), session(&app, &sessions));
        if let Some(answer) = answer {
            app.ctx().provide::<dyn Approval>(Arc::new(Says(answer))).unwrap();
        }
        resolve(app.ctx(), request(asked_in.id()), &CancellationToken::new()).await;
        let events = logged(&asked_in);
        let [(asked_type, asked), (decided_type, decided)] = &events[..] else { panic!("{events:?}") };
        assert_eq!((asked_type.as_str(), decided_type.as_str()), ("approval/asked", "approval/decided"));
        let id = asked["id"].clone();
        let expected = json!({ "id": id, "tool": "bash", "call_id": "c1", "reason": "touches production" });
        assert_eq!(*asked, expected);
        assert_eq!(*decided, json!({ "id": id, "outcome": outcome }));
        assert!(logged(&other).is_empty(), "nothing leaks into another session");
        app.shutdown().await.unwrap();
    }
}

/// Hangs until it is dropped; says that it is asked.
struct Hangs(tokio::sync::mpsc::UnboundedSender<()>);
#[async_trait]
impl Approval for Hangs {
    async fn ask(&self, _request: ApprovalRequest, _cancel: CancellationToken) -> Answer {
        self.0.send(()).unwrap();
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_cancelled_or_abandoned_question_is_logged_as_cancelled() {
    for abandoned in [false, true] {
        let (app, sessions) = start().await;
        let session = session(&app, &sessions);
        let (asked, mut asking) = tokio::sync::mpsc::unbounded_channel();
        app.ctx().provide::<dyn Approval>(Arc::new(Hangs(asked))).unwrap();
        let (ctx, id, cancel) = (app.ctx().clone(), session.id(), CancellationToken::new());
        let turn = cancel.clone();
        let question = tokio::spawn(async move { resolve(&ctx, request(id), &turn).await });
        asking.recv().await.unwrap();
        if abandoned {
            question.abort();
        } else {
            cancel.cancel();
        }
        question.await.ok();
        let events = logged(&session);
        assert_eq!(events.len(), 2, "{events:?}");
        assert_eq!(events[1].1["outcome"], json!({ "kind": "cancelled" }));
        app.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn a_question_for_a_session_that_is_not_live_is_still_decided() {
    let (app, sessions) = start().await;
    app.ctx().provide::<dyn Approval>(Arc::new(Says(Answer::AllowOnce))).unwrap();
    let outcome = resolve(app.ctx(), request(SessionId::generate()), &CancellationToken::new()).await;
    assert_eq!(outcome, ApprovalOutcome::AllowedOnce);
    assert!(sessions.live().is_empty());
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_event_types_are_known_as_long_as_the_plugin_runs() {
    let (app, sessions) = start().await;
    let names = |sessions: &Sessions| -> Vec<&str> {
        sessions.event_types().into_iter().map(|info| info.name).collect()
    };
    assert_eq!(names(&sessions), ["approval/asked", "approval/decided"]);
    app.remove("approval-log").await.unwrap();
    assert!(names(&sessions).is_empty());
    let session = session(&app, &sessions);
    resolve(app.ctx(), request(session.id()), &CancellationToken::new()).await;
    assert!(logged(&session).is_empty(), "and without it nothing is logged");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn logged_events_read_back_typed() {
    let (app, sessions) = start().await;
    let session = session(&app, &sessions);
    resolve(app.ctx(), request(session.id()), &CancellationToken::new()).await;
    let bodies: Vec<Body> = session.view().iter().map(|event| event.body.clone()).collect();
    let [Body::Plugin(asked), Body::Plugin(decided)] = &bodies[..] else { panic!("{bodies:?}") };
    let asked = asked.read::<ApprovalAsked>().unwrap().unwrap();
    let decided = decided.read::<ApprovalDecided>().unwrap().unwrap();
    assert_eq!(asked.id, decided.id);
    assert!(matches!(decided.outcome, ApprovalOutcome::Unavailable { .. }));
    app.shutdown().await.unwrap();
}
