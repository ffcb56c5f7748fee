//! The write-behind recorder, against a backend that fails on demand, under a clock that stands still.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use std::time::Duration;

use harness_session::{SessionHeader, Sessions};
use harness_session_persistence::contract::{Fault, MemoryPersistence};
use harness_session_persistence::{
    Durability, KnownTypes, Recorder, RecorderOptions, SessionPersistence, resume_recorded, start_recorded,
};
use proptest::prelude::*;
use tokio::time::advance;

mod rig;
use rig::{Rig, append, settle};

const FULL: &str = "cannot write memory: no storage space";

fn plain() -> RecorderOptions {
    RecorderOptions::default()
}
fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[tokio::test(start_paused = true)]
async fn the_window_counts_from_the_first_event() {
    let rig = Rig::new(plain()).await;
    rig.append(1);
    settle().await;
    advance(ms(150)).await;
    rig.append(2);
    settle().await;
    advance(ms(49)).await;
    settle().await;
    assert_eq!(rig.batches(), [], "written before the window ended");
    advance(ms(1)).await;
    settle().await;
    assert_eq!(rig.batches(), [(0, 2)], "a later event prolonged the window");
    assert_eq!(
        rig.store.writes()[0].durability,
        Durability::Write,
        "the device is not asked between barriers"
    );
    advance(ms(10_000)).await;
    settle().await;
    assert_eq!(rig.store.writes().len(), 1, "written without a reason");
}

#[tokio::test(start_paused = true)]
async fn one_write_is_in_flight() {
    let rig = Rig::new(plain()).await;
    let held = rig.store.hold_writes().await;
    rig.append(2);
    settle().await;
    advance(ms(200)).await;
    settle().await;
    rig.append(3); // while the first write hangs
    settle().await;
    advance(ms(500)).await;
    settle().await;
    assert_eq!(rig.store.writes().len(), 0);
    drop(held);
    settle().await;
    assert_eq!(rig.batches(), [(0, 1), (2, 4)], "the second window had ended: its batch follows at once");
}

#[tokio::test(start_paused = true)]
async fn a_failed_batch_is_kept_and_tried_again_with_the_next_event() {
    let rig = Rig::new(plain()).await;
    rig.store.inject([Fault::Full, Fault::Full]);
    rig.append(3);
    settle().await;
    advance(ms(200)).await;
    settle().await;
    assert_eq!(rig.told(), [format!("3 waiting: {FULL}")], "told at once");
    advance(ms(60_000)).await;
    settle().await;
    assert_eq!(rig.store.writes().len(), 1, "no retry without a reason");
    rig.append(1);
    settle().await;
    advance(ms(200)).await;
    settle().await;
    assert_eq!(rig.store.writes().len(), 2);
    assert_eq!(rig.told().len(), 1, "the same trouble is told once");
    rig.append(1);
    settle().await;
    advance(ms(200)).await;
    settle().await;
    assert_eq!(rig.batches(), [(0, 4)]);
    assert_eq!(rig.stored(), [0, 1, 2, 3, 4]);
    assert_eq!(rig.told().last().unwrap(), "recovered");
}

#[tokio::test(start_paused = true)]
async fn a_barrier_is_durable_at_once_and_free_when_nothing_waits() {
    let rig = Rig::new(plain()).await;
    rig.session.flush().await.unwrap();
    assert_eq!(rig.store.writes().len(), 0, "nothing to store");
    rig.append(2);
    rig.session.flush().await.unwrap();
    assert_eq!(rig.stored(), [0, 1]);
    assert_eq!(rig.store.writes()[0].durability, Durability::Sync);
    assert_eq!(rig.recorder.safe(), 2);
    rig.session.flush().await.unwrap();
    assert_eq!(rig.store.writes().len(), 1, "a second barrier has nothing to do");

    rig.append(1);
    settle().await;
    advance(ms(200)).await;
    settle().await;
    assert_eq!((rig.stored().len(), rig.recorder.safe()), (3, 2), "written, but the device was not asked");
    rig.session.flush().await.unwrap();
    let last = rig.store.writes().pop().unwrap();
    assert_eq!((last.events, last.durability), (vec![], Durability::Sync));
    assert_eq!(rig.recorder.safe(), 3);
}

#[tokio::test(start_paused = true)]
async fn barriers_that_wait_share_one_write() {
    let rig = Rig::new(plain()).await;
    let held = rig.store.hold_writes().await;
    rig.append(1);
    let first = rig.recorder.clone();
    let first = tokio::spawn(async move { first.flush().await });
    settle().await;
    rig.append(1);
    let waiting: Vec<_> = (0..5).map(|_| rig.recorder.clone()).collect();
    let waiting: Vec<_> = waiting.into_iter().map(|r| tokio::spawn(async move { r.flush().await })).collect();
    settle().await;
    drop(held);
    first.await.unwrap().unwrap();
    for barrier in waiting {
        barrier.await.unwrap().unwrap();
    }
    assert_eq!(rig.batches(), [(0, 0), (1, 1)]);
    assert_eq!(rig.store.writes().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn durability_write_never_asks_the_device() {
    let rig = Rig::new(RecorderOptions { durability: Durability::Write, ..plain() }).await;
    rig.append(2);
    rig.session.flush().await.unwrap();
    assert_eq!(rig.recorder.safe(), 2);
    rig.session.flush().await.unwrap();
    let asked: Vec<_> = rig.store.writes().iter().map(|write| write.durability).collect();
    assert_eq!(asked, [Durability::Write]);
}

#[tokio::test(start_paused = true)]
async fn a_barrier_fails_closed_and_recovers() {
    let rig = Rig::new(plain()).await;
    rig.append(2);
    rig.store.inject([Fault::Full]);
    let error = rig.session.flush().await.unwrap_err();
    assert_eq!(error.to_string(), format!("the session could not be saved: {FULL}"));
    assert_eq!(rig.told(), [format!("2 waiting: {FULL}")]);
    rig.session.flush().await.unwrap();
    assert_eq!(rig.stored(), [0, 1]);
    assert_eq!(rig.told()[1..], ["recovered"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_device_lost_is_written_again() {
    let rig = Rig::new(plain()).await;
    rig.append(1);
    rig.session.flush().await.unwrap();
    rig.append(2);
    settle().await;
    advance(ms(200)).await;
    settle().await;
    assert_eq!(rig.stored(), [0, 1, 2]);
    rig.append(1);
    rig.store.inject([Fault::Sync]);
    rig.session.flush().await.unwrap_err();
    assert_eq!(rig.stored(), [0], "the backend lost what was not synced");
    rig.session.flush().await.unwrap();
    assert_eq!(rig.stored(), [0, 1, 2, 3]);
    assert_eq!(rig.recorder.safe(), 4);
}

#[tokio::test(start_paused = true)]
async fn disposal_stores_the_rest_and_gives_the_lease_back() {
    let rig = Rig::new(plain()).await;
    rig.append(3);
    let late = rig.session.clone();
    rig.ctx.on_dispose(move || async move { append(&late) }); // a later cleanup runs earlier and may append
    rig.ctx.dispose().await.unwrap();
    assert_eq!(rig.stored(), [0, 1, 2, 3]);
    assert_eq!(rig.store.writes().last().unwrap().durability, Durability::Sync);
    let opened = rig.store.open(rig.session.id(), &KnownTypes::default()).await.unwrap();
    assert_eq!(opened.events.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_end_is_not_taken_in_silence() {
    let rig = Rig::new(plain()).await;
    rig.append(1);
    rig.recorder.close().await.unwrap();
    rig.recorder.close().await.expect("closing twice is fine while nothing is missing");
    rig.session.flush().await.expect("all of it is stored");
    rig.append(1);
    let error = rig.session.flush().await.unwrap_err().to_string();
    assert!(error.contains("events from 1 on are not stored"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_at_the_end_is_told() {
    let rig = Rig::new(plain()).await;
    rig.append(2);
    rig.store.inject([Fault::Full]);
    rig.ctx.dispose().await.unwrap();
    assert_eq!(rig.told(), [format!("2 waiting: {FULL}")]);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_backend_is_a_failure() {
    let rig = Rig::new(plain()).await;
    rig.append(2);
    rig.store.inject([Fault::Panic]);
    let error = rig.session.flush().await.unwrap_err().to_string();
    assert!(error.contains("events from 0 on are not stored"), "{error}");
    settle().await;
    assert_eq!(rig.told().len(), 1);
    assert!(rig.told()[0].contains("panicked: the writer was told to panic"), "{:?}", rig.told());
    rig.session.flush().await.expect_err("still");
}

#[tokio::test(start_paused = true)]
async fn other_sessions_of_the_context_do_not_matter() {
    let rig = Rig::new(plain()).await;
    let sessions = rig.ctx.service::<Sessions>().unwrap();
    let other = sessions.create(&rig.ctx, SessionHeader::new(0, None), vec![]).unwrap();
    rig.append(1);
    append(&other);
    rig.store.inject([Fault::Full]);
    other.flush().await.expect("nobody records it");
    assert_eq!(rig.store.writes().len(), 0, "the barrier of another session was taken for ours");
    rig.session.flush().await.expect_err("this one is recorded");
}

#[tokio::test]
async fn a_writer_of_another_session_is_refused() {
    let rig = Rig::new(plain()).await;
    rig.append(2);
    rig.recorder.close().await.unwrap();
    let opened = rig.store.open(rig.session.id(), &KnownTypes::default()).await.unwrap();
    let sessions = rig.ctx.service::<Sessions>().unwrap();
    let empty = sessions.create(&rig.ctx, SessionHeader::new(0, None), vec![]).unwrap();
    let error = Recorder::attach(&empty, opened.writer, plain()).unwrap_err();
    assert_eq!(error.code(), "SESSION_SEQUENCE");
}

#[tokio::test(start_paused = true)]
async fn resuming_stores_only_what_is_new() {
    let rig = Rig::new(plain()).await;
    rig.append(3);
    rig.ctx.dispose().await.unwrap();
    let ctx = rig.app.ctx().scope("agent");
    let sessions = ctx.service::<Sessions>().unwrap();
    let recorded = resume_recorded(&ctx, &sessions, &rig.store, rig.session.id()).await.unwrap();
    assert_eq!(recorded.session.first_live(), 3);
    recorded.session.flush().await.unwrap();
    append(&recorded.session);
    recorded.session.flush().await.unwrap();
    assert_eq!(rig.batches(), [(0, 2), (3, 3)]);
    let again = resume_recorded(&ctx, &sessions, &rig.store, rig.session.id()).await.err().unwrap();
    assert_eq!(again.code(), "SESSION_IN_USE");
}

#[tokio::test(start_paused = true)]
async fn a_fork_stores_its_seed_once() {
    let rig = Rig::new(plain()).await;
    rig.append(4);
    let ctx = rig.app.ctx().scope("fork");
    let sessions = ctx.service::<Sessions>().unwrap();
    let header =
        SessionHeader { parent: Some(rig.session.id()), inherited: 4, ..SessionHeader::new(1, None) };
    let seed = rig.session.view().iter().collect();
    let store = MemoryPersistence::default();
    let writer = store.create(header.clone()).await.unwrap();
    let fork = sessions.create(&ctx, header, seed).unwrap();
    Recorder::attach(&fork, writer, plain()).unwrap();
    settle().await;
    advance(ms(200)).await;
    settle().await;
    append(&fork);
    fork.flush().await.unwrap();
    let batches: Vec<_> = store.writes().into_iter().map(|write| write.events).collect();
    assert_eq!(batches, [vec![0, 1, 2, 3], vec![4]]);
}

#[tokio::test]
async fn starting_records_from_the_first_event() {
    let rig = Rig::new(plain()).await;
    let ctx = rig.app.ctx().scope("second");
    let sessions = ctx.service::<Sessions>().unwrap();
    let header = SessionHeader::new(0, None);
    let store = MemoryPersistence::default();
    let recorded = start_recorded(&ctx, &sessions, &store, header.clone()).await.unwrap();
    append(&recorded.session);
    recorded.recorder.flush().await.unwrap();
    assert_eq!(store.stored(header.id).len(), 1);
}

#[derive(Debug, Clone)]
enum Act {
    Append(usize),
    Barrier,
    Wait(u64),
    Fail(bool),
}
fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => (1usize..5).prop_map(Act::Append),
        2 => Just(Act::Barrier),
        2 => (0u64..400).prop_map(Act::Wait),
        2 => any::<bool>().prop_map(Act::Fail),
    ];
    proptest::collection::vec(act, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn nothing_is_lost_or_written_twice(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let rig = Rig::new(plain()).await;
            for act in acts {
                match act {
                    Act::Append(events) => rig.append(events),
                    Act::Wait(time) => advance(ms(time)).await,
                    Act::Fail(sync) => rig.store.inject([if sync { Fault::Sync } else { Fault::Full }]),
                    Act::Barrier => {
                        let committed = rig.session.view().len();
                        if rig.session.flush().await.is_ok() {
                            // An acknowledged event is there, and stays there whatever fails later.
                            assert!(rig.stored().len() as u64 >= committed);
                        }
                    }
                }
                settle().await;
                assert!(rig.stored().len() as u64 >= rig.recorder.safe());
            }
            rig.store.mend();
            rig.ctx.dispose().await.unwrap();
            assert_eq!(rig.stored(), (0..rig.session.view().len()).collect::<Vec<_>>());
            let ends = rig.told();
            assert!(ends.last().is_none_or(|told| told == "recovered"), "{ends:?}");
        });
    }
}
