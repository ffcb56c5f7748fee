//! Damage in the middle of a log: what can be kept is kept.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at files")]
use std::fs;

use harness_session::{Body, SessionHeader};
use harness_session_persistence::contract::{Script, drive, encoded};
use harness_session_persistence::{KnownTypes, SessionPersistence};

mod rig;
use rig::Folder;

async fn stored(folder: &Folder) -> (SessionHeader, String) {
    let header = SessionHeader { cwd: Some("/w".into()), ..SessionHeader::new(1, None) };
    let events = drive(&header, |session| {
        Script::turn(session, "first", "Yes.");
        let step = Script::open(session, "second").answer("Looking. ", &[("c0", "{}"), ("c1", "{}")]);
        step.start(0, "c0").start(1, "c1").result(1, "c1", "one").result(0, "c0", "zero").end();
        Script::turn(session, "third", "No.");
    })
    .await;
    folder.store(&header, &events).await;
    let text = fs::read_to_string(folder.log(header.id)).unwrap();
    (header, text)
}

#[tokio::test]
async fn any_garbled_line_costs_itself_and_what_hangs_on_it() {
    let folder = Folder::new();
    let (header, text) = stored(&folder).await;
    let (id, known) = (header.id, KnownTypes::default());
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for at in 0..lines.len() - 1 {
        for garbage in ["{\"type\":\u{fffd}\n", ""] {
            if at == 0 && garbage.is_empty() {
                continue; // that is another test's
            }
            let damaged = [&lines[..at].concat(), garbage, &lines[at + 1..].concat()].concat();
            fs::remove_dir_all(folder.session(id)).unwrap();
            fs::create_dir_all(folder.session(id)).unwrap();
            fs::write(folder.log(id), &damaged).unwrap();
            let backend = folder.backend();
            backend.open(id, &known).await.unwrap_err();
            let health = backend.check(id, &known).await.unwrap();
            let place = format!("line {}", at + 1);
            assert!(
                health.faults[0].position.unwrap().to_string().starts_with(&place),
                "{at}: {:?}",
                health.faults
            );

            let dry = backend.repair(id, &known, true).await.unwrap();
            assert!(!dry.losses.is_empty() && dry.backup.is_none());
            assert_eq!(fs::read_to_string(folder.log(id)).unwrap(), damaged, "{at}: a dry run wrote");
            assert_eq!(folder.beside(id), ["log.jsonl"]);

            let report = backend.repair(id, &known, false).await.unwrap();
            assert_eq!((report.kept, &report.losses), (dry.kept, &dry.losses));
            assert_eq!(
                fs::read_to_string(report.backup.unwrap()).unwrap(),
                damaged,
                "{at}: the backup differs"
            );
            if !garbage.is_empty() {
                let aside = fs::read_to_string(report.set_aside.unwrap()).unwrap();
                assert!(aside.contains(garbage), "{at}: {aside}");
            }
            assert_eq!(backend.check(id, &known).await.unwrap().faults, []);
            let opened = backend.open(id, &known).await.unwrap_or_else(|error| panic!("{at}: {error}"));
            opened.writer.close().await.unwrap();
            let again = backend.open(id, &known).await.unwrap();
            assert_eq!(encoded(&again.events), encoded(&opened.events), "{at}");
            // One lost line never costs another turn.
            let ends = again.events.iter().filter(|event| matches!(event.body, Body::TurnEnd(_))).count();
            assert_eq!(ends, 3, "{at}: a turn is gone: {:#?}", report.losses);
            let turn_of_damage = lines[..at].iter().filter(|line| line.contains("\"turn/end\"")).count();
            let kept = encoded(&again.events).concat();
            for (turn, word) in ["first", "second", "third"].into_iter().enumerate() {
                if at > 0 && turn != turn_of_damage {
                    assert!(kept.contains(&format!("\"{word}\"")), "{at}: turn {turn} lost its prompt");
                }
            }
            let whole = backend.repair(id, &known, false).await;
            assert_eq!(whole.unwrap_err().code(), "SESSION_IN_USE", "{at}: it takes the lease");
        }
    }
}

#[tokio::test]
async fn a_lost_header_is_made_up_and_a_healthy_log_is_left_alone() {
    let folder = Folder::new();
    let (header, text) = stored(&folder).await;
    let (id, known) = (header.id, KnownTypes::default());
    let report = folder.backend().repair(id, &known, false).await.unwrap();
    assert!(report.losses.is_empty() && report.backup.is_none());
    assert_eq!(fs::read_to_string(folder.log(id)).unwrap(), text);

    let body = text.split_once('\n').unwrap().1;
    for damaged in [body.to_owned(), String::new(), "\u{0}\u{0}\u{0}".to_owned()] {
        fs::write(folder.log(id), &damaged).unwrap();
        let report = folder.backend().repair(id, &known, false).await.unwrap();
        assert_eq!(report.losses.len(), 1, "{:?}", report.losses);
        let opened = folder.backend().open(id, &known).await.unwrap();
        assert_eq!(opened.events.len(), if damaged == body { body.lines().count() } else { 0 });
    }
}

#[tokio::test]
async fn a_newer_format_is_never_touched() {
    let folder = Folder::new();
    let (header, text) = stored(&folder).await;
    let newer = text.replacen("\"version\":1", "\"version\":2", 1).replace("turn/start", "turn/\u{0}");
    fs::write(folder.log(header.id), &newer).unwrap();
    let error = folder.backend().repair(header.id, &KnownTypes::default(), false).await.unwrap_err();
    assert_eq!(error.code(), "SESSION_NEWER_FORMAT");
    assert_eq!(fs::read_to_string(folder.log(header.id)).unwrap(), newer);
    assert_eq!(folder.beside(header.id), ["log.jsonl"]);
}

/// Several lines garbled, gone, doubled or swapped: whatever it costs, the result opens and passes the check.
#[tokio::test]
async fn any_damage_leaves_a_log_that_opens() {
    let folder = Folder::new();
    let (header, text) = stored(&folder).await;
    let (id, known) = (header.id, KnownTypes::default());
    let lines: Vec<&str> = text.lines().collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % bound as u64).unwrap()
    };
    for round in 0..300 {
        let mut damaged: Vec<String> = lines.iter().map(ToString::to_string).collect();
        for _ in 0..=below(5) {
            let at = below(damaged.len());
            match below(5) {
                0 => damaged[at] = "\u{0}\u{0}{".to_owned(),
                1 => drop(damaged.remove(at)),
                2 => damaged.insert(at, damaged[at].clone()),
                3 => {
                    let other = below(damaged.len());
                    damaged.swap(at, other);
                }
                _ => damaged[at] = damaged[at].replace("\"turn\":2", "\"turn\":7"),
            }
        }
        fs::remove_dir_all(folder.session(id)).unwrap();
        fs::create_dir_all(folder.session(id)).unwrap();
        fs::write(folder.log(id), damaged.join("\n") + "\n").unwrap();
        let backend = folder.backend();
        let report = backend.repair(id, &known, false).await;
        let report = report.unwrap_or_else(|error| panic!("round {round}: {error}\n{}", damaged.join("\n")));
        let health = backend.check(id, &known).await.unwrap();
        assert_eq!(health.faults, [], "round {round}");
        let opened = backend.open(id, &known).await.unwrap_or_else(|error| panic!("round {round}: {error}"));
        opened.writer.close().await.unwrap();
        let again = backend.repair(id, &known, false).await.unwrap();
        assert!(again.losses.is_empty() && again.backup.is_none(), "round {round}: repaired twice");
        assert!(report.kept <= lines.len() + 4);
    }
}
