//! A listener that fails makes the call a final error; an observer that fails changes nothing.
use harness_kernel::Order;
use harness_tools::{Execute, ListenerError, PostExecute, PreExecute, Prepare, ToolResultNotice};

use crate::fixture::{Rig, code, explode, shown};

/// How a listener can fail.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Error,
    Panic,
    /// Before it has made a future.
    EarlyPanic,
}
impl Fault {
    const ALL: [Self; 3] = [Self::Error, Self::Panic, Self::EarlyPanic];
    fn happen<T>(self) -> Result<T, ListenerError> {
        match self {
            Self::Error => Err(ListenerError::new("the listener exploded")),
            Self::Panic | Self::EarlyPanic => explode("the listener"),
        }
    }
    fn early(self) {
        if matches!(self, Self::EarlyPanic) {
            explode::<()>("the listener");
        }
    }
}

/// Adds one faulty listener with `install` and tells what happened to a call.
async fn failing(install: impl Fn(&Rig, Fault)) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for fault in Fault::ALL {
        let rig = Rig::new().await;
        install(&rig, fault);
        let outcome = rig.call("a").await;
        assert_eq!(code(&outcome), "LISTENER_FAILED", "{fault:?}");
        assert!(shown(&outcome).contains("the listener exploded"), "{fault:?}: {}", shown(&outcome));
        assert!(outcome.value.is_none(), "{fault:?}");
        assert_eq!(rig.journal.count("finalize"), 1, "{fault:?}");
        all.push(rig.journal.all());
        rig.end().await;
    }
    all
}

const UNSEEN: [&str; 2] = ["finalize:error", "result:LISTENER_FAILED"];

#[tokio::test]
async fn in_prepare() {
    let journals = failing(|rig, fault| {
        rig.agent.around::<Prepare, _>(move |_, _| {
            fault.early();
            async move { fault.happen() }
        });
    });
    assert_eq!(journals.await, [UNSEEN; 3]);
}

#[tokio::test]
async fn in_pre_execute() {
    let journals = failing(|rig, fault| {
        rig.agent.around::<PreExecute, _>(move |_, _| {
            fault.early();
            async move { fault.happen() }
        });
    });
    assert_eq!(journals.await, [UNSEEN; 3]);
}

#[tokio::test]
async fn in_execute_before_the_body() {
    let journals = failing(|rig, fault| {
        rig.agent.around::<Execute, _>(move |_, _| {
            fault.early();
            async move { fault.happen() }
        });
    });
    assert_eq!(journals.await, [UNSEEN; 3]);
}

#[tokio::test]
async fn in_execute_after_the_body() {
    let journals = failing(|rig, fault| {
        rig.agent.around::<Execute, _>(move |event, next| async move {
            next.run(event).await?;
            fault.happen()
        });
    });
    assert_eq!(journals.await, [["body:a", "render:a", UNSEEN[0], UNSEEN[1]]; 3]);
}

#[tokio::test]
async fn in_post_execute() {
    let journals = failing(|rig, fault| {
        rig.agent.around_at::<PostExecute, _>(Order::Prepend, move |_, _| {
            fault.early();
            async move { fault.happen() }
        });
    });
    assert_eq!(journals.await, [["body:a", "render:a", UNSEEN[0], UNSEEN[1]]; 3]);
}

/// A failing inner listener is a final error even if an outer one is content with what it sees.
#[tokio::test]
async fn a_failure_inside_reaches_the_outer_listener_as_an_error() {
    let rig = Rig::new().await;
    let journal = rig.journal.clone();
    rig.app.ctx().around::<PreExecute, _>(move |event, next| {
        let journal = journal.clone();
        async move {
            let decision = next.run(event).await;
            journal.note(format!("outer sees {}", decision.is_err()));
            decision
        }
    });
    rig.agent.around::<PreExecute, _>(|_, _| async { Err(ListenerError::new("inner")) });
    assert_eq!(code(&rig.call("a").await), "LISTENER_FAILED");
    assert_eq!(rig.journal.all()[0], "outer sees true");
    rig.end().await;
}

#[tokio::test]
async fn an_observers_panic_changes_nothing_and_the_others_are_still_told() {
    let rig = Rig::new().await;
    for order in [Order::Prepend, Order::Append] {
        rig.agent.on_at::<ToolResultNotice>(order, |_| explode("an observer"));
    }
    let journal = rig.journal.clone();
    rig.agent.on::<ToolResultNotice>(move |notice| journal.note(format!("last:{}", shown(&notice.outcome))));
    let outcome = rig.call("a").await;
    assert_eq!((code(&outcome).as_str(), shown(&outcome).as_str()), ("ok", "shown a"));
    assert_eq!(rig.journal.all()[4..], ["result:ok", "last:shown a"]);
    assert_eq!(rig.app.ctx().contained_panics(), 2, "and neither panic is swallowed");
    rig.end().await;
}
