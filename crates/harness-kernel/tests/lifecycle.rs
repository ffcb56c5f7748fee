//! Plugins of a running app: start, add, reload, replace, remove.
#![allow(clippy::unwrap_used, clippy::items_after_statements, reason = "test code")]

mod seam;
use std::sync::Arc;

use futures_util::FutureExt;
use harness_kernel::{App, Ctx, Plugin, PluginError, PluginState, Running, StartError};
use seam::{Approval, Count, Log, Shell, Simple, ToolBash, Yes, bash_local, result};
use tokio::sync::{Notify, oneshot};

/// Needs [`Approval`]; provides nothing. `says` tells one configuration from another.
struct Gate(Log, &'static str);
impl Plugin for Gate {
    type Deps = Arc<dyn Approval>;
    fn name(&self) -> &'static str {
        "gate"
    }
    async fn apply(&self, ctx: Ctx, _: Self::Deps) -> Result<(), PluginError> {
        self.0.note(format!("+gate {}", self.1));
        self.0.note_disposal(&ctx, "-gate");
        Ok(())
    }
}
/// Needs [`Shell`] and provides [`Approval`].
struct AskByShell(Log);
impl Plugin for AskByShell {
    type Deps = Arc<dyn Shell>;
    fn name(&self) -> &'static str {
        "ask"
    }
    async fn apply(&self, ctx: Ctx, _: Self::Deps) -> Result<(), PluginError> {
        self.0.note("+ask");
        self.0.note_disposal(&ctx, "-ask");
        ctx.provide::<dyn Approval>(Arc::new(Yes))?;
        Ok(())
    }
}
async fn chain(log: &Log) -> Running {
    let app = App::default()
        .with(Gate(log.clone(), "a"))
        .with(AskByShell(log.clone()))
        .with(bash_local(log, "ran"));
    let app = app.start().await.unwrap();
    assert_eq!(log.take(), ["+bash-local", "+ask", "+gate a"]);
    app
}
fn state(app: &Running, name: &str) -> PluginState {
    app.plugins().into_iter().find(|plugin| plugin.name == name).unwrap().state
}

#[tokio::test]
async fn a_name_is_used_once() {
    let log = Log::default();
    let error =
        App::default().with(bash_local(&log, "")).with(bash_local(&log, "")).start().await.unwrap_err();
    assert_eq!(error.to_string(), "two plugins are named bash-local; remove or rename one of them");
    let app = App::default().with(bash_local(&log, "")).start().await.unwrap();
    assert_eq!(app.add(bash_local(&log, "")).await.unwrap_err().code(), "plugin-name-duplicate");
    assert_eq!(log.take(), ["+bash-local"]);
    app.shutdown().await.unwrap();
}

#[test]
fn an_app_needs_a_runtime() {
    let error = App::default().start().now_or_never().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "no tokio runtime is running; start the app inside one");
}

#[tokio::test]
async fn a_failed_start_names_the_plugin_and_disposes_the_rest() {
    let log = Log::default();
    let bad = Simple("bad", |_: Ctx| Err("no port".into()));
    let error = App::default().with(bash_local(&log, "")).with(bad).start().await.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.code()), ("plugin bad failed to start", "plugin-failed"));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no port");
    assert_eq!(log.take(), ["+bash-local", "-bash-local"]);
}

#[tokio::test]
async fn a_reload_stops_dependents_first_and_restarts_them_in_order() {
    let log = Log::default();
    let app = chain(&log).await;
    let agent = app.scope("agent");
    log.note_results(&agent, "agent");
    app.reload("bash-local").await.unwrap();
    assert_eq!(log.take(), ["-gate", "-ask", "-bash-local", "+bash-local", "+ask", "+gate a"]);
    agent.emit(&result("alive"));
    assert_eq!(log.take(), ["agent:alive"], "who does not depend on it lives on");
    app.reload("gate").await.unwrap();
    assert_eq!(log.take(), ["-gate", "+gate a"]);
    app.replace_plugin("gate", Gate(log.clone(), "b")).await.unwrap();
    assert_eq!(log.take(), ["-gate", "+gate b"]);
    app.reload("ask").await.unwrap();
    assert_eq!(log.take(), ["-gate", "-ask", "+ask", "+gate b"]);
    app.shutdown().await.unwrap();
    assert_eq!(log.take(), ["-gate", "-ask", "-bash-local"]);
}

#[tokio::test]
async fn removed_providers_leave_waiting_dependents_that_a_later_one_starts() {
    let log = Log::default();
    let app = chain(&log).await;
    assert_eq!(app.remove("bash-local").await.unwrap(), ["gate", "ask"]);
    assert_eq!(log.take(), ["-gate", "-ask", "-bash-local"]);
    assert_eq!(state(&app, "gate"), PluginState::Waiting { needs: vec!["approval"] });
    assert_eq!(state(&app, "ask"), PluginState::Waiting { needs: vec!["bash"] });
    assert!(app.listeners().is_empty() && app.services().is_empty());
    app.add(bash_local(&log, "again")).await.unwrap();
    assert_eq!(log.take(), ["+bash-local", "+ask", "+gate a"]);
    let status = app.plugins();
    assert_eq!(status.iter().map(|plugin| plugin.name).collect::<Vec<_>>(), ["gate", "ask", "bash-local"]);
    assert_eq!((&status[1].provides[..], &status[1].needs[..]), (&["approval"][..], &["bash"][..]));
    assert!(status.iter().all(|plugin| plugin.state == PluginState::Active));
    assert_eq!(app.services()[0].plugin, Some("ask"));
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_added_plugin_may_wait() {
    let log = Log::default();
    let app = App::default().start().await.unwrap();
    let error = app.add(ToolBash(log.clone())).await.unwrap_err();
    assert_eq!(error.to_string(), "plugins cannot start: tool-bash needs bash, but no plugin provides bash");
    assert!(log.take().is_empty());
    app.add(bash_local(&log, "ran")).await.unwrap();
    assert_eq!(log.take(), ["+bash-local", "+tool-bash: ran ls"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_instance_is_kept_or_made_anew() {
    struct Counts(Count, Log);
    impl Plugin for Counts {
        type Deps = ();
        fn name(&self) -> &'static str {
            "counts"
        }
        async fn apply(&self, _: Ctx, (): ()) -> Result<(), PluginError> {
            self.1.note(format!("apply {}", self.0.up()));
            Ok(())
        }
    }
    let log = Log::default();
    let app = App::default().with(Counts(Count::default(), log.clone())).start().await.unwrap();
    app.reload("counts").await.unwrap();
    assert_eq!(log.take(), ["apply 0", "apply 1"]);
    app.shutdown().await.unwrap();
    let notes = log.clone();
    let app = App::default().with_factory("fresh", move || Counts(Count::default(), notes.clone()));
    let app = app.start().await.unwrap();
    app.reload("fresh").await.unwrap();
    assert_eq!(log.take(), ["apply 0", "apply 0"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_plugin_that_fails_to_reload_says_why_and_the_others_run() {
    let log = Log::default();
    let app = chain(&log).await;
    let tries = Count::default();
    let flaky = Simple("bash-local", move |ctx: Ctx| {
        if tries.up() == 0 {
            return Err("port taken".into());
        }
        ctx.provide::<dyn Shell>(Arc::new(seam::LocalShell("")))?;
        Ok(())
    });
    let error = app.replace_plugin("bash-local", flaky).await.unwrap_err();
    assert!(matches!(error, StartError::Failed("bash-local", _)), "{error}");
    let failed = PluginState::Failed { error: "plugin bash-local failed to start: port taken".to_owned() };
    assert_eq!(state(&app, "bash-local"), failed);
    assert_eq!(state(&app, "ask"), PluginState::Waiting { needs: vec!["bash"] });
    log.take();
    app.reload("bash-local").await.unwrap();
    assert_eq!(log.take(), ["+ask", "+gate a"]);
    assert_eq!(state(&app, "bash-local"), PluginState::Active);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_change_names_what_it_cannot_do() {
    let log = Log::default();
    let app = Arc::new(chain(&log).await);
    let unknown = app.reload("nobody").await.unwrap_err();
    assert_eq!(unknown.to_string(), "no plugin is named nobody; `Running::plugins` lists them");
    assert_eq!(app.remove("nobody").await.unwrap_err().code(), "plugin-unknown");
    // A task of the app may reload a plugin, a task of the plugin may not.
    let (own, answer) = (Arc::clone(&app), oneshot::channel());
    app.spawn(async move { answer.0.send(own.reload("gate").await).unwrap() });
    answer.1.await.unwrap().unwrap();
    let (own, answer) = (Arc::clone(&app), oneshot::channel());
    let answer_once = std::sync::Mutex::new(Some(answer.0));
    let turn = Simple("turn", move |ctx: Ctx| {
        let (own, answer) = (Arc::clone(&own), answer_once.lock().unwrap().take().unwrap());
        ctx.spawn(async move { answer.send(own.reload("turn").await).unwrap() });
        Ok(())
    });
    app.add(turn).await.unwrap();
    let refused = answer.1.await.unwrap().unwrap_err();
    assert_eq!(
        (refused.to_string().as_str(), refused.code()),
        ("plugin turn was not stopped", "plugin-not-stopped")
    );
    assert_eq!(state(&app, "turn"), PluginState::Active);
    app.dispose().await.unwrap();
}

#[tokio::test]
async fn a_cleanup_that_panics_does_not_stop_a_reload() {
    let applied = Log::default();
    let log = applied.clone();
    let app = App::default()
        .with(Simple("bad", move |ctx: Ctx| {
            log.note("+bad");
            ctx.on_dispose(|| async { panic!("cleanup") });
            Ok(())
        }))
        .start()
        .await
        .unwrap();
    app.reload("bad").await.unwrap();
    assert_eq!((applied.take().len(), app.contained_panics()), (2, 1));
    let error = app.shutdown().await.unwrap_err();
    assert_eq!(error.to_string(), "context root is disposed, but cleanups panicked: in bad: cleanup");
}

/// Starts to apply, says so, and never ends.
struct Stuck(Log, Arc<Notify>);
impl Plugin for Stuck {
    type Deps = ();
    fn name(&self) -> &'static str {
        "stuck"
    }
    async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
        self.0.note_disposal(&ctx, "-stuck");
        self.1.notify_one();
        std::future::pending().await
    }
}
#[tokio::test]
async fn an_abandoned_start_or_change_disposes_what_was_half_started() {
    let (log, begun) = (Log::default(), Arc::new(Notify::new()));
    let stuck = || Stuck(log.clone(), begun.clone());
    let start = App::default().with(bash_local(&log, "")).with(stuck()).start();
    tokio::select! {
        biased;
        _ = start => panic!("it is stuck"),
        () = begun.notified() => {}
    }
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.extend(log.take());
        tokio::task::yield_now().await;
    }
    assert_eq!(seen, ["+bash-local", "-stuck", "-bash-local"]);
    let app = App::default().with(bash_local(&log, "")).start().await.unwrap();
    log.take();
    tokio::select! {
        biased;
        _ = app.add(stuck()) => panic!("it is stuck"),
        () = begun.notified() => {}
    }
    while log.take() != ["-stuck"] {
        tokio::task::yield_now().await;
    }
    assert_eq!(app.remove("stuck").await.unwrap(), Vec::<&str>::new());
    app.reload("bash-local").await.unwrap();
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_plugin_that_ends_itself_while_it_starts_has_failed() {
    struct Quits;
    impl Plugin for Quits {
        type Deps = ();
        fn name(&self) -> &'static str {
            "quits"
        }
        async fn apply(&self, ctx: Ctx, (): ()) -> Result<(), PluginError> {
            ctx.dispose().await?;
            Ok(())
        }
    }
    let error = App::default().with(Quits).start().await.unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "it was disposed while it started");
}

#[test]
fn debug_builds_warn_when_a_used_app_is_dropped_without_shutdown() {
    #[derive(Clone, Default)]
    struct Lines(Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let warned = || String::from_utf8(std::mem::take(&mut *lines.0.lock().unwrap())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    tracing::subscriber::with_default(subscriber, || {
        runtime.block_on(async {
            drop(App::default().start().await.unwrap());
            assert_eq!(warned(), "", "nothing was registered");
            let app = App::default().with(bash_local(&Log::default(), "")).start().await.unwrap();
            app.shutdown().await.unwrap();
            assert_eq!(warned(), "", "it was shut down");
            let app = App::default().with(bash_local(&Log::default(), "")).start().await.unwrap();
            app.dispose_soon();
            drop(app);
            assert_eq!(warned(), "", "it is ending");
            drop(App::default().with(bash_local(&Log::default(), "")).start().await.unwrap());
            assert!(warned().contains("dropped without `shutdown`"));
        });
    });
}
