//! A process that writes is killed at random moments.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use harness_kernel::App;
use harness_session::{Event, Form, SessionHeader, SessionPlugin, Sessions, encode_event};
use harness_session_persistence::contract::{OtherProcess, Script};
use harness_session_persistence::{KnownTypes, SessionPersistence, resume_recorded};

mod rig;
use rig::{Copy, Folder, backend, task, told};

const ROUNDS: u32 = 25;

#[tokio::test]
async fn no_acknowledged_event_is_lost_by_kill_9() {
    let folder = Folder::new();
    let (header, known) = (SessionHeader::new(1, None), KnownTypes::default());
    let events = harness_session_persistence::contract::drive(&header, |session| {
        Script::turn(session, "start", "Yes.");
    })
    .await;
    folder.store(&header, &events).await;
    let (mut before, mut torn, mut closed) = (Vec::new(), 0, 0);
    for round in 0..ROUNDS {
        let mut copy = Copy::run("writing_process", &told(&folder.root(), header.id));
        let mut acknowledged = 0;
        for _ in 0..=(round * 7 % 11) {
            acknowledged = copy.hear("acknowledged").expect("it writes until it is killed").parse().unwrap();
        }
        // Somewhere in the next write, or just before or after it.
        std::thread::sleep(std::time::Duration::from_micros(u64::from(round) * 97 % 1500));
        Box::new(copy).kill();

        let opened =
            folder.backend().open(header.id, &known).await.unwrap_or_else(|e| panic!("round {round}: {e}"));
        assert!(
            opened.events.len() >= acknowledged,
            "round {round}: {} < {acknowledged}",
            opened.events.len()
        );
        let lines: Vec<_> = opened.events.iter().map(|event| line(event)).collect();
        assert_eq!(lines[..before.len()], before, "round {round}: earlier events changed");
        torn += opened.repairs.iter().filter(|note| note.to_string().contains("cut off")).count();
        closed += opened.repairs.iter().filter(|note| note.to_string().contains("interrupted")).count();
        opened.writer.close().await.unwrap();
        let again = folder.backend().open(header.id, &known).await.unwrap();
        assert_eq!(again.events.iter().map(|event| line(event)).collect::<Vec<_>>(), lines, "round {round}");
        assert_eq!(again.repairs, [], "round {round}: the second load mends again");
        before = lines;
    }
    println!("{ROUNDS} kills: {} events kept, {torn} torn tails, {closed} turns closed", before.len());
    assert!(closed > 0, "no kill came in the middle of a turn: the test proves nothing");
}

fn line(event: &Event) -> String {
    encode_event(event, Form::Full).unwrap()
}

/// Goes on with a session for ever, saying how many events each barrier has made safe.
#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn writing_process() {
    let (root, id) = task();
    let app = App::default().with(SessionPlugin::default()).start().await.unwrap();
    let sessions = app.ctx().service::<Sessions>().unwrap();
    let recorded = resume_recorded(app.ctx(), &sessions, &backend(&root), id).await.unwrap();
    let session = recorded.session;
    loop {
        let step = Script::open(&session, "again");
        session.flush().await.unwrap();
        println!("acknowledged {}", recorded.recorder.safe());
        let step = step.answer(&"word ".repeat(300), &[("c0", "{}"), ("c1", "{}")]).start(0, "c0");
        session.flush().await.unwrap();
        println!("acknowledged {}", recorded.recorder.safe());
        step.result(0, "c0", "fine").start(1, "c1").result(1, "c1", &"long ".repeat(800)).end();
        session.flush().await.unwrap();
        println!("acknowledged {}", recorded.recorder.safe());
    }
}
