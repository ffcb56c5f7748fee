//! A live session: order, observers, views, live chunks.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use harness_llm::Chunk;
use harness_session::{
    AgentParked, AppendError, Body, LiveError, SessionDisposed, SessionEvent, SessionHeader, SessionsError,
    Step,
};

mod rig;
use rig::{AT, Rig, block_on, step_start, turn_end, turn_start, user};

fn parked(pending: u32) -> Body {
    Body::AgentParked(AgentParked { pending, reason: "test".into() })
}

#[tokio::test]
async fn an_observer_reads_but_cannot_append() {
    let rig = Rig::new().await;
    let (session, seen) = (rig.session.clone(), Arc::new(Mutex::new(vec![])));
    let notes = seen.clone();
    rig.ctx().on::<SessionEvent>(move |event| {
        let refused = session.append(parked(9)).unwrap_err();
        assert!(matches!(refused, AppendError::Reentrant), "{refused}");
        assert_eq!(refused.code(), "SESSION_REENTRANT");
        // Everything can be read from here, and this event is the newest.
        let view = session.view();
        assert_eq!(view.last().unwrap().seq, event.event.seq);
        notes.lock().unwrap().push((view.len(), session.messages().len(), session.turns()));
    });
    rig.append(turn_start(1));
    rig.append(step_start(1, 1));
    rig.append(user("hi"));
    assert_eq!(*seen.lock().unwrap(), [(1, 0, 1), (2, 0, 1), (3, 1, 1)]);
    assert_eq!(rig.ctx().contained_panics(), 0);
}

#[tokio::test]
async fn an_observer_may_append_to_another_session() {
    let rig = Rig::new().await;
    let other = rig.sessions.create(rig.ctx(), SessionHeader::new(0, None), vec![]).unwrap();
    let (first, second) = (rig.session.id(), other.clone());
    rig.ctx().on::<SessionEvent>(move |event| {
        if event.session == first {
            second.append(parked(1)).unwrap();
        }
    });
    rig.append(parked(0));
    assert_eq!((rig.session.view().len(), other.view().len()), (1, 1));
}

#[test]
fn commits_and_notifications_have_one_order() {
    block_on(async {
        let rig = Rig::new().await;
        let heard = Arc::new(Mutex::new(vec![]));
        let notes = heard.clone();
        rig.ctx().on::<SessionEvent>(move |event| notes.lock().unwrap().push(event.event.seq));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|n| _ = rig.append(parked(n))));
            }
        });
        assert_eq!(*heard.lock().unwrap(), (0..2000).collect::<Vec<_>>());
        assert!(rig.events().iter().zip(0..).all(|(event, seq)| event.seq == seq));
    });
}

#[tokio::test]
async fn a_view_stands_still() {
    let rig = Rig::new().await;
    let empty = rig.session.view();
    for n in 0..1000 {
        rig.append(parked(n));
    }
    let view = rig.session.view();
    for n in 1000..2000 {
        rig.append(parked(n));
    }
    assert!(
        empty.is_empty() && empty.last().is_none() && empty.get(0).is_none() && empty.iter().next().is_none()
    );
    assert_eq!((view.len(), view.iter().count(), view.last().unwrap().seq), (1000, 1000, 999));
    assert!(view.get(1000).is_none(), "a later event shows");
    assert_eq!(
        view.iter_from(990).map(|event| event.seq).collect::<Vec<_>>(),
        (990..1000).collect::<Vec<_>>()
    );
    assert_eq!(view.iter_from(1000).count(), 0);
    assert!(Arc::ptr_eq(&view.get(5).unwrap(), &rig.session.view().get(5).unwrap()), "events are shared");
}

/// The bound is a guard against quadratic reads, not a measurement: a copy of the log for each event would take
/// minutes.
#[tokio::test]
async fn a_hundred_thousand_appends_with_a_reading_observer() {
    let rig = Rig::new().await;
    let (session, read) = (rig.session.clone(), Arc::new(AtomicU64::new(0)));
    let sum = read.clone();
    rig.ctx().on::<SessionEvent>(move |_| {
        let view = session.view();
        let last = view.iter_from(view.len().saturating_sub(3)).count() as u64;
        sum.fetch_add(last + u64::from(session.turns()), Ordering::Relaxed);
    });
    let started = Instant::now();
    for n in 0..100_000 {
        rig.append(parked(n));
    }
    assert_eq!(read.load(Ordering::Relaxed), 300_000 - 3);
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_seed_is_checked_and_told_apart() {
    let rig = Rig::new().await;
    rig.append(turn_start(1));
    rig.append(turn_end(1));
    let seed = rig.events();
    let child = rig.sessions.create(rig.ctx(), SessionHeader::new(0, None), seed.clone()).unwrap();
    assert_eq!((child.first_live(), child.view().len(), child.turns()), (2, 2, 1));
    assert_eq!(child.append(turn_start(2)).unwrap().seq, 2);
    let gap = vec![seed[1].clone()];
    let refused = rig.sessions.create(rig.ctx(), SessionHeader::new(0, None), gap).err().unwrap();
    assert!(matches!(refused, SessionsError::Seed { .. }), "{refused}");
    let twice = rig.sessions.create(rig.ctx(), rig.session.header().clone(), vec![]).err().unwrap();
    assert!(matches!(twice, SessionsError::AlreadyLive(id) if id == rig.session.id()), "{twice}");
}

#[tokio::test]
async fn a_session_ends_with_its_context() {
    let rig = Rig::new().await;
    let (ctx, gone) = (rig.ctx().scope("agent"), Arc::new(Mutex::new(vec![])));
    let notes = gone.clone();
    rig.ctx().on::<SessionDisposed>(move |event| notes.lock().unwrap().push(event.session));
    let header = SessionHeader::new(0, None);
    let session = rig.sessions.create(&ctx, header.clone(), vec![]).unwrap();
    assert!(rig.sessions.get(header.id).is_some());
    ctx.dispose().await.unwrap();
    assert_eq!(*gone.lock().unwrap(), [header.id]);
    assert!(rig.sessions.get(header.id).is_none());
    drop(session);
    rig.sessions.create(rig.ctx(), header, vec![]).expect("the identity is free again");
}

#[tokio::test]
async fn live_chunks_are_not_waited_for_and_losses_are_counted() {
    let rig = Rig::new().await;
    let chunk = |n: u32| Chunk::TextDelta { index: n, text: "x".into() };
    rig.session.publish(AT, 1, &chunk(0)); // nobody listens
    let mut live = rig.session.subscribe();
    assert!(live.try_next().is_none());
    for n in 0..5000 {
        rig.session.publish(Step { turn: 1, step: 2 }, 3, &chunk(n));
    }
    assert_eq!(live.next().await.unwrap_err(), LiveError::Missed(5000 - 4096));
    let first = live.next().await.unwrap();
    assert_eq!((first.at.step, first.attempt, &*first.chunk), (2, 3, &chunk(904)));
    for n in 905..5000 {
        assert_eq!(*live.try_next().unwrap().unwrap().chunk, chunk(n));
    }
    assert!(live.try_next().is_none());
}

#[tokio::test]
async fn a_flush_without_storage_is_fine() {
    let rig = Rig::new().await;
    rig.append(parked(0));
    rig.session.flush().await.unwrap();
}
