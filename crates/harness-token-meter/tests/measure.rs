//! The measure: anchored by what the provider reports, by estimate beyond that.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use harness_kernel::{App, Running};
use harness_llm::{BlockKind, CallConfig, Chunk, FinishReason, Message, Usage};
use harness_session::{
    Body, ChunkRecorder, Draft, HeaderReason, RequestContext, RequestHeader, Session, SessionHeader,
    SessionPlugin, Sessions, Step, Turn, UserMessage,
};
use harness_token_meter::{Measure, Price, Prices, Tally, measure, message_tokens};

const AT: Step = Step { turn: 1, step: 1 };

async fn world() -> (Running, Arc<Session>) {
    let app = App::default().with(SessionPlugin::default()).start().await.unwrap();
    let sessions = app.ctx().service::<Sessions>().unwrap();
    let session = sessions.create(app.ctx(), SessionHeader::new(0, None), vec![]).unwrap();
    session.append(Body::TurnStart(Turn { turn: 1 })).unwrap();
    session.append(Body::StepStart(AT)).unwrap();
    (app, session)
}
fn says(session: &Session, text: &str) -> u64 {
    let message = Arc::new(Message::user(text));
    session.append(Body::UserMessage(UserMessage { message })).unwrap().seq
}
fn answers(session: &Session, text: &str, usage: impl Into<Option<Usage>>) -> u64 {
    let mut recorder = ChunkRecorder::new(AT, 1);
    recorder.push(0, &Chunk::BlockStart { index: 0, kind: BlockKind::Text });
    recorder.push(0, &Chunk::TextDelta { index: 0, text: text.into() });
    recorder.push(0, &Chunk::BlockEnd { index: 0, block: None });
    if let Some(usage) = usage.into() {
        recorder.push(0, &Chunk::Usage(usage));
    }
    recorder.push(0, &Chunk::Finish(FinishReason::Stop.into()));
    session.append(recorder.message("p", "m")).unwrap().seq
}
fn used(input: u64, cached: u64, output: u64) -> Usage {
    Usage { input, output, cache_read: Some(cached), ..Usage::default() }
}
fn header(system: &str) -> Body {
    Body::RequestHeader(Arc::new(RequestHeader {
        config: CallConfig::default(),
        system: Some(system.into()),
        tools: Arc::new([]),
        reason: HeaderReason::Change,
    }))
}

#[tokio::test]
async fn the_report_is_the_anchor_and_only_the_rest_is_estimated() {
    let (app, session) = world().await;
    assert_eq!(measure(&session), Measure { tokens: 0, anchored: false, window: None });
    session.append(header(&"s".repeat(400))).unwrap();
    says(&session, &"a".repeat(400));
    let before = measure(&session);
    assert_eq!((before.tokens, before.anchored), (100 + 100 + 8, false));
    answers(&session, "ok", used(300, 40, 10));
    assert_eq!(measure(&session).tokens, 350, "prompt, cached and answer, as reported");
    says(&session, &"b".repeat(80));
    let after = measure(&session);
    assert_eq!((after.tokens, after.anchored), (350 + message_tokens(&Message::user("b".repeat(80))), true));
    // A changed system prompt was not counted by anybody.
    session.append(header(&"s".repeat(4000))).unwrap();
    assert!(!measure(&session).anchored);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn after_a_replacement_the_estimate_is_corrected_by_the_last_report() {
    let (app, session) = world().await;
    let first = says(&session, &"a".repeat(4000));
    let second = answers(&session, "ok", used(2000, 0, 50));
    let plain = measure(&session);
    assert_eq!(plain.tokens, 2050);
    says(&session, "next");
    let body = Body::UserMessage(UserMessage { message: Arc::new(Message::user("c".repeat(400))) });
    session.append(Draft::new(body).replacing(first, second).citing(vec![first, second])).unwrap();
    let measured = measure(&session);
    assert!(!measured.anchored);
    let estimate = message_tokens(&Message::user("c".repeat(400))) + message_tokens(&Message::user("next"));
    assert!(
        measured.tokens > estimate * 19 / 10 && measured.tokens < estimate * 21 / 10,
        "{measured:?}, {estimate}"
    );
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_report_of_nothing_is_no_report() {
    let (app, session) = world().await;
    says(&session, &"a".repeat(4000));
    answers(&session, "ok", used(0, 0, 0));
    let measured = measure(&session);
    assert!(!measured.anchored && measured.tokens > 1000, "{measured:?}");
    answers(&session, "ok", None);
    assert!(!measure(&session).anchored);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_window_comes_from_the_log_and_sessions_are_told_apart() {
    let (app, session) = world().await;
    let context = RequestContext { provider: "p".into(), model: "m".into(), context_window: Some(9) };
    session.append(Body::RequestContext(context)).unwrap();
    says(&session, "hello there");
    let other = app
        .ctx()
        .service::<Sessions>()
        .unwrap()
        .create(app.ctx(), SessionHeader::new(0, None), vec![])
        .unwrap();
    assert_eq!(measure(&other), Measure { tokens: 0, anchored: false, window: None });
    assert_eq!(measure(&session).window, Some(9));
    app.shutdown().await.unwrap();
}

struct Tenth;
impl Prices for Tenth {
    fn price(&self, _: &str, _: &str) -> Option<Price> {
        Some(Price { input: 100_000.0, output: 200_000.0, cache_read: Some(10_000.0), cache_write: None })
    }
}

#[tokio::test]
async fn the_tally_adds_up_turns_and_says_what_it_does_not_know() {
    let (app, session) = world().await;
    answers(&session, "one", used(10, 5, 1));
    let tally = Tally::of_turn(&session.view(), Some(&Tenth));
    assert_eq!((tally.requests, tally.tokens(), tally.cost.usd()), (1, 16, Some(1.0 + 0.05 + 0.2)));
    session.append(Body::StepEnd(AT)).unwrap();
    session.append(Body::StepStart(Step { turn: 1, step: 2 })).unwrap();
    let tally = Tally::since(&session.view(), 0, Some(&Tenth));
    assert_eq!(tally.requests, 1);
    assert_eq!(Tally::since(&session.view(), 0, None).cost.usd(), None, "without prices nothing is known");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_request_without_a_report_makes_the_cost_unknown() {
    let (app, session) = world().await;
    answers(&session, "one", None);
    let tally = Tally::since(&session.view(), 0, Some(&Tenth));
    assert_eq!((tally.unmetered, tally.cost.usd()), (1, None));
    assert!(tally.cost.unknown_because().unwrap().contains("no usage for 1 request"));
    app.shutdown().await.unwrap();
}

/// What the provider counted is not what is sent any more, even if its own answer stays.
#[tokio::test]
async fn a_replacement_before_the_anchor_ends_it() {
    let (app, session) = world().await;
    let early = says(&session, &"a".repeat(4000));
    answers(&session, "ok", used(1100, 0, 50));
    assert!(measure(&session).anchored);
    let body = Body::UserMessage(UserMessage { message: Arc::new(Message::user("short")) });
    session.append(Draft::new(body).replacing(early, early).citing(vec![early])).unwrap();
    let measured = measure(&session);
    assert!(!measured.anchored && measured.tokens < 100, "{measured:?}");
    app.shutdown().await.unwrap();
}
