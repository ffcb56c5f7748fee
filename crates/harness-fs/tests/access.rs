//! The `fs/*` events: what listeners can do, and what they cannot.
#![expect(clippy::unwrap_used, reason = "a failed arrangement fails the test")]

mod memory;

use std::path::Path;
use std::sync::{Arc, Mutex};

use harness_fs::*;
use harness_kernel::{App, Ctx, Order, Running};

use memory::MemoryFixture;

async fn app() -> Running {
    App::default().start().await.unwrap()
}

async fn access(name: &str) -> FileAccess {
    let files = MemoryFixture::default().0;
    let workspace = Workspace::resolve(&files, &[Path::new("/w")]).await.unwrap();
    FileAccess::new(Owner::new("agent"), workspace, files.resolve(Path::new("/w"), name).await.unwrap())
}

fn deny_writes(ctx: &Ctx, reason: &'static str) {
    ctx.around::<WriteIntent, _>(move |_, _| async move { Ok(WriteDecision::Deny(Denial::new(reason))) });
}

#[tokio::test]
async fn without_a_listener_everything_is_allowed() {
    let (app, access) = (app().await, access("a").await);
    assert_eq!(access.may_write(app.ctx()).await.unwrap(), Precondition::Any);
    assert_eq!(access.may_edit(app.ctx()).await.unwrap(), None);
    access.may_read(app.ctx()).await.unwrap();
    access.observed(app.ctx(), Seen::Absent);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn decisions_become_guards() {
    let (app, access) = (app().await, access("a").await);
    app.ctx().around::<WriteIntent, _>(|intent, next| async move {
        let own = WriteDecision::AllowIf(Version::new("1"));
        Ok(own.and(next.run(intent).await?))
    });
    app.ctx().around::<EditIntent, _>(|_, _| async { Ok(EditDecision::AllowIf(Version::new("2"))) });
    app.ctx().around::<ReadIntent, _>(|_, _| async {
        Ok(ReadDecision::Deny(Denial::with_code("ACME_SECRET", "secret")))
    });
    let guard = Precondition::ReplaceVersion(Version::new("1"));
    assert_eq!(access.may_write(app.ctx()).await.unwrap(), guard);
    assert_eq!(access.may_edit(app.ctx()).await.unwrap(), Some(Version::new("2")));
    let error = access.may_read(app.ctx()).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), ("ACME_SECRET", "secret"));
    app.ctx().around::<WriteIntent, _>(|_, _| async { Ok(WriteDecision::CreateOnly) });
    assert_eq!(access.may_write(app.ctx()).await.unwrap_err().code(), "FS_STALE");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_failing_or_panicking_listener_refuses() {
    let (app, access) = (app().await, access("a").await);
    app.ctx().around::<EditIntent, _>(|_, _| async { panic!("oops") });
    app.ctx().around::<ReadIntent, _>(|intent: ReadIntent, _| async move {
        Err(FsError::NotFound { path: intent.access().path().display().to_owned() })
    });
    app.ctx().around::<WriteIntent, _>(|_, _| -> std::future::Ready<Result<WriteDecision, FsError>> {
        panic!("early")
    });
    for (error, code, words) in [
        (
            access.may_edit(app.ctx()).await.unwrap_err(),
            "FS_POLICY_FAILED",
            "fs/edit-intent failed: panicked: oops",
        ),
        (
            access.may_write(app.ctx()).await.unwrap_err(),
            "FS_POLICY_FAILED",
            "fs/write-intent failed: panicked: early",
        ),
        (access.may_read(app.ctx()).await.unwrap_err(), "FS_NOT_FOUND", "a does not exist"),
    ] {
        assert_eq!(error.code(), code);
        assert!(error.to_string().contains(words), "{error}");
    }
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_kept_intent_cannot_take_the_place_of_another() {
    let app = app().await;
    let kept: Arc<Mutex<Option<WriteIntent>>> = Arc::default();
    app.ctx().around::<WriteIntent, _>(move |intent, next| {
        let first = kept.lock().unwrap().get_or_insert_with(|| intent.clone()).clone();
        async move { next.run(first).await }
    });
    let (harmless, other) = (access("harmless").await, access("other").await);
    assert_eq!(harmless.may_write(app.ctx()).await.unwrap(), Precondition::Any);
    let error = other.may_write(app.ctx()).await.unwrap_err();
    assert_eq!(error.code(), "FS_POLICY_FAILED");
    assert!(error.to_string().contains("put another access"), "{error}");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn listeners_of_one_agent_do_not_decide_for_another() {
    let (app, access) = (app().await, access("a").await);
    let (one, other) = (app.ctx().scope("one"), app.ctx().scope("other"));
    deny_writes(&one, "not here");
    assert_eq!(access.may_write(&one).await.unwrap_err().code(), "FS_DENIED");
    access.may_write(&other).await.unwrap();
    // A prepended listener is asked first and can answer alone.
    one.around_at::<WriteIntent, _>(Order::Prepend, |_, _| async {
        Ok(WriteDecision::Deny(Denial::new("first")))
    });
    assert_eq!(access.may_write(&one).await.unwrap_err().to_string(), "first");
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn observations_are_heard_and_can_be_stored() {
    let (app, access) = (app().await, access("dir/a").await);
    let heard: Arc<Mutex<Vec<Observed>>> = Arc::default();
    let sink = Arc::clone(&heard);
    app.ctx().on::<Observed>(move |observed| sink.lock().unwrap().push(observed.clone()));
    app.ctx().on::<Observed>(|_| panic!("a broken observer changes nothing"));
    access.observed(app.ctx(), Seen::Present(Version::new("7")));
    let observed = heard.lock().unwrap()[0].clone();
    assert_eq!((observed.owner.as_str(), observed.path.as_path()), ("agent", Path::new("/w/dir/a")));
    let stored = serde_json::to_string(&observed.seen).unwrap();
    assert_eq!(stored, r#"{"present":"7"}"#);
    assert_eq!(serde_json::from_str::<Seen>(&stored).unwrap(), observed.seen);
    assert_eq!(serde_json::to_string(&Seen::Absent).unwrap(), r#""absent""#);
    app.shutdown().await.unwrap();
}
