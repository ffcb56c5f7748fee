//! Providers, replacements, and what depends on them.
#![allow(clippy::unwrap_used, clippy::items_after_statements, reason = "test code")]

mod seam;
use std::sync::Arc;

use harness_kernel::{App, Ctx, Deps, DisposeError, Lazy, Plugin, PluginError, PluginState, ProvideError};
use seam::{Approval, LocalShell, Log, Shell, Simple, ToolBash, Yes, bash_local, empty_app};

async fn says(ctx: &Ctx) -> Option<String> {
    Some(ctx.service::<dyn Shell>()?.run("x").await)
}
fn shell(says: &'static str) -> Arc<dyn Shell> {
    Arc::new(LocalShell(says))
}

#[tokio::test]
async fn a_second_provider_in_one_scope_is_refused() {
    let app = App::default().with(bash_local(&Log::default(), "first")).start().await.unwrap();
    let error = app.provide(shell("second")).unwrap_err();
    assert_eq!(error, ProvideError::AlreadyProvided("bash", "root".to_owned(), Some("bash-local")));
    assert_eq!(
        error.to_string(),
        "service bash is already provided in scope root by bash-local; remove one or use `Ctx::replace`"
    );
    assert_eq!(error.code(), "service-already-provided");
    assert_eq!(says(&app).await.as_deref(), Some("first x"));
    let agent = app.scope("agent");
    agent.provide(shell("inner")).unwrap();
    assert_eq!(says(&agent).await.as_deref(), Some("inner x"));
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn two_plugins_that_provide_one_service_do_not_start() {
    let other = Simple("bash-remote", |ctx: Ctx| {
        ctx.provide(shell("remote"))?;
        Ok(())
    });
    let error = App::default().with(bash_local(&Log::default(), "")).with(other).start().await.unwrap_err();
    assert_eq!(error.to_string(), "plugin bash-remote failed to start");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.starts_with("service bash is already provided in scope root by bash-local"), "{source}");
}

#[tokio::test]
async fn a_replacement_gives_way_to_the_earlier_one_when_it_ends() {
    let app = empty_app().await;
    let early = app.replace(shell("early replacement"));
    let base = app.provide(shell("base")).unwrap();
    assert_eq!(says(&app).await.as_deref(), Some("early replacement x"), "whichever comes first");
    let plugin = app.fork("plugin");
    plugin.replace(shell("late replacement"));
    assert_eq!(says(&app).await.as_deref(), Some("late replacement x"));
    assert!(app.provide(shell("second")).is_err());
    early.dispose();
    assert_eq!(says(&app).await.as_deref(), Some("late replacement x"));
    plugin.dispose().await.unwrap();
    assert_eq!(says(&app).await.as_deref(), Some("base x"));
    base.dispose();
    assert_eq!(says(&app).await, None);
    app.provide(shell("again")).unwrap();
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_stored_lazy_reference_is_no_cycle_and_sees_providers_come_and_go() {
    struct Store(Lazy<dyn Approval>);
    impl Shell for Store {
        fn run<'a>(&'a self, _: &'a str) -> harness_kernel::BoxFuture<'a, String> {
            let there = self.0.get().is_some_and(|approval| approval.ask());
            Box::pin(async move { there.to_string() })
        }
    }
    let kept = Arc::new(());
    struct Held {
        _kept: Arc<()>,
        _lazy: Lazy<dyn Approval>,
    }
    let app = empty_app().await;
    let agent = app.scope("agent");
    agent.provide::<dyn Shell>(Arc::new(Store(agent.lazy()))).unwrap();
    let run = async || says(&agent).await.unwrap();
    assert_eq!(run().await, "false");
    let approval = app.provide::<dyn Approval>(Arc::new(Yes)).unwrap();
    assert_eq!(run().await, "true");
    approval.dispose();
    assert_eq!(run().await, "false");
    // Typed state that holds a reference to its own scope goes when the app is dropped without disposal.
    let held = Held { _kept: kept.clone(), _lazy: app.lazy() };
    app.on::<seam::ToolResult>(move |_| {
        let _ = &held;
    });
    drop((app, agent));
    assert_eq!(Arc::strong_count(&kept), 1);
}

#[tokio::test]
async fn dependents_are_disposed_before_their_provider() {
    let log = Log::default();
    let app = App::default().with(ToolBash(log.clone())).with(bash_local(&log, "ran")).start().await.unwrap();
    log.take();
    assert_eq!(app.remove("bash-local").await.unwrap(), ["tool-bash"]);
    assert_eq!(log.take(), ["-tool-bash: provider there true", "-bash-local"]);
    let waiting = PluginState::Waiting { needs: vec!["bash"] };
    assert_eq!(app.plugins()[0].state, waiting);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_disposed_handle_disposes_dependents_and_then_the_service() {
    let log = Log::default();
    let app = empty_app().await;
    let handle = app.provide(shell("ran")).unwrap();
    app.add(ToolBash(log.clone())).await.unwrap();
    handle.dispose();
    while app.service::<dyn Shell>().is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(log.take(), ["+tool-bash: ran ls", "-tool-bash: provider there true"]);
    app.provide(shell("other")).unwrap();
    app.reload("tool-bash").await.unwrap();
    assert_eq!(log.take(), ["+tool-bash: other ls"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn shutdown_ends_dependents_first_while_their_provider_still_works() {
    struct Late(Log);
    impl Plugin for Late {
        type Deps = Arc<dyn Shell>;
        fn name(&self) -> &'static str {
            "late"
        }
        async fn apply(&self, ctx: Ctx, shell: Self::Deps) -> Result<(), PluginError> {
            let (log, seen) = (self.0.clone(), ctx.clone());
            ctx.on_dispose(move || async move {
                log.note(format!(
                    "{}, root cancelled {}",
                    shell.run("bye").await,
                    seen.service::<dyn Shell>().is_none()
                ));
            });
            Ok(())
        }
    }
    let log = Log::default();
    let provider = {
        let log = log.clone();
        Simple("bash-local", move |ctx: Ctx| {
            let (log, token) = (log.clone(), ctx.cancel_token());
            ctx.on_dispose(move || async move { log.note("provider") });
            struct Live(tokio_util::sync::CancellationToken);
            impl Shell for Live {
                fn run<'a>(&'a self, _: &'a str) -> harness_kernel::BoxFuture<'a, String> {
                    Box::pin(async { format!("provider cancelled {}", self.0.is_cancelled()) })
                }
            }
            ctx.provide::<dyn Shell>(Arc::new(Live(token)))?;
            Ok(())
        })
    };
    let app = App::default().with(Late(log.clone())).with(provider).start().await.unwrap();
    app.shutdown().await.unwrap();
    assert_eq!(log.take(), ["provider cancelled false, root cancelled false", "provider"]);
}

#[tokio::test]
async fn a_dependent_may_not_await_the_end_of_its_provider_and_a_ring_does_not_hang() {
    let app = empty_app().await;
    let (first, second) = (app.fork("first"), app.fork("second"));
    first.provide(shell("first")).unwrap();
    second.provide::<dyn Approval>(Arc::new(Yes)).unwrap();
    <Arc<dyn Shell>>::resolve(&second).unwrap();
    let (provider, answer) = (first.clone(), tokio::sync::oneshot::channel());
    second.spawn(async move { answer.0.send(provider.dispose().await).unwrap() });
    let refused = answer.1.await.unwrap();
    assert_eq!(refused, Err(DisposeError::FromOwnTask("first".to_owned())));
    // This edge would close a ring: it gives the service but is not recorded.
    <Arc<dyn Approval>>::resolve(&first).unwrap();
    second.dispose().await.unwrap();
    assert!(!first.is_closed());
    first.dispose().await.unwrap();
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_provider_that_is_going_away_takes_no_new_dependents() {
    let app = empty_app().await;
    let (provider, dependent) = (app.fork("provider"), app.fork("dependent"));
    provider.provide(shell("")).unwrap();
    <Arc<dyn Shell>>::resolve(&dependent).unwrap();
    let (late, log) = (app.fork("late"), Log::default());
    let notes = log.clone();
    dependent.on_dispose(move || async move {
        notes.note(format!(
            "{:?}, {}",
            <Arc<dyn Shell>>::resolve(&late).err(),
            late.service::<dyn Shell>().is_some()
        ));
    });
    provider.dispose().await.unwrap();
    assert_eq!(log.take(), ["Some(\"bash\"), true"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_struct_and_nested_tuples_can_be_needs() {
    type Many = ((Arc<dyn Shell>, Lazy<dyn Approval>), (), (Arc<dyn Approval>, Lazy<dyn Shell>));
    assert_eq!(Many::needs(), ["bash", "approval"]);
    let app = empty_app().await;
    assert_eq!(Many::resolve(&app).err(), Some("bash"));
    app.provide(shell("")).unwrap();
    assert_eq!(Many::resolve(&app).err(), Some("approval"));
    app.provide::<dyn Approval>(Arc::new(Yes)).unwrap();
    assert!(Many::resolve(&app).is_ok());
    app.shutdown().await.unwrap();
}
