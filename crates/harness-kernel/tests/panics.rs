//! A panic is contained at the edges, and nowhere else.
#![allow(clippy::unwrap_used, clippy::items_after_statements, reason = "test code")]

mod seam;
use std::ops::ControlFlow;

use harness_kernel::{App, Ctx, ListenerFailure, Panic, contain, contain_sync};
use seam::{Execute, Flush, Log, Simple, Stopping, bash_local, call, empty_app};

fn panic_of(message: &str) -> Panic {
    Panic { message: message.to_owned() }
}

#[tokio::test]
async fn a_panic_in_a_parallel_listener_is_one_failure_among_others() {
    let (app, log) = (empty_app().await, Log::default());
    app.on_parallel::<Flush, _>(|_| async { panic!("first {}", 1) });
    app.on_parallel::<Flush, _>(|_| -> std::future::Ready<_> { panic!("before its future") });
    app.on_parallel::<Flush, _>(|_| async { Err("disk".to_owned()) });
    let notes = log.clone();
    app.on_parallel::<Flush, _>(move |_| {
        notes.note("called");
        async { Ok(()) }
    });
    let failures = app.parallel(Flush).await;
    assert_eq!(
        failures,
        [
            ListenerFailure::Panicked(panic_of("first 1")),
            ListenerFailure::Panicked(panic_of("before its future")),
            ListenerFailure::Failed("disk".to_owned()),
        ]
    );
    assert_eq!(failures[0].to_string(), "panicked: first 1");
    assert_eq!(failures[2].to_string(), "disk");
    assert_eq!(log.take(), ["called"]);
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_panic_in_a_serial_listener_stops_the_walk() {
    let (app, log) = (empty_app().await, Log::default());
    app.on_serial::<Stopping, _>(|_| async { panic!("no idea") });
    let notes = log.clone();
    app.on_serial::<Stopping, _>(move |_| {
        notes.note("asked");
        async { ControlFlow::Break("answer") }
    });
    assert_eq!(app.serial(Stopping).await, Err(panic_of("no idea")));
    assert!(log.take().is_empty());
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_waterfall_lets_panics_through_to_the_phase_that_contains_them() {
    let app = empty_app().await;
    app.around::<Execute, _>(|_, _| async { panic!("layer") });
    let outcome = contain(app.waterfall(Execute(call("x")), |_| async { Ok(String::new()) })).await;
    assert_eq!(outcome, Err(panic_of("layer")));
    app.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_panic_in_apply_is_a_start_error_that_names_the_plugin() {
    let log = Log::default();
    let bad = Simple("bad", |ctx: Ctx| {
        ctx.on_dispose(|| async {});
        panic!("cannot apply")
    });
    let error = App::default().with(bash_local(&log, "")).with(bad).start().await.unwrap_err();
    assert_eq!(error.to_string(), "plugin bad failed to start");
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "panicked: cannot apply");
    assert_eq!(log.take(), ["+bash-local", "-bash-local"], "what had started is disposed");
}

#[tokio::test]
async fn a_panic_in_a_task_is_reported() {
    let app = empty_app().await;
    app.spawn(async { panic!("task") });
    while app.contained_panics() == 0 {
        tokio::task::yield_now().await;
    }
    app.shutdown().await.unwrap();
}

#[test]
fn a_panic_without_text_has_a_message_too() {
    assert_eq!(contain_sync(|| 1), Ok(1));
    let odd = contain_sync(|| std::panic::panic_any(7));
    assert_eq!(odd.unwrap_err().to_string(), "panicked: without a readable message");
}
