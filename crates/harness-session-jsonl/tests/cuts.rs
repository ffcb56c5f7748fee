//! A finished session, cut at every byte.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at files")]
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;

use harness_session::SessionHeader;
use harness_session_jsonl::{JsonlConfig, JsonlPersistence};
use harness_session_persistence::contract::{Script, continued, drive, encoded};
use harness_session_persistence::{Durability, KnownTypes, RepairNote, SessionPersistence};

mod rig;
use rig::Folder;

#[tokio::test]
async fn every_cut_loads_the_same_twice_and_loses_nothing_complete() {
    let folder = Folder::new();
    let header =
        SessionHeader { cwd: Some("/wörk".to_owned()), ..SessionHeader::new(1_700_000_000_000, None) };
    let events = drive(&header, |session| {
        let step = Script::open(session, "größer 🦀").answer("é", &[("c0", "{\"a\":\"ö\"}")]);
        step.start(0, "c0").result(0, "c0", "fein 🦀").end();
    })
    .await;
    folder.store(&header, &events).await;
    let whole = fs::read(folder.log(header.id)).unwrap();
    let ends: Vec<usize> = (1..=whole.len()).filter(|end| whole[end - 1] == b'\n').collect();
    assert_eq!(ends.len(), events.len() + 1);
    let lines = encoded(&events);
    // What each number of complete events is closed to, and the turn that follows.
    let mut seen = BTreeMap::new();

    // The device is not asked: this is about content.
    let quick = JsonlConfig { durability: Durability::Write, ..JsonlConfig::new(folder.root()) };
    let (backend, known, id) = (JsonlPersistence::new(quick), KnownTypes::default(), header.id);
    for cut in 0..=whole.len() {
        fs::remove_dir_all(folder.session(id)).unwrap();
        fs::create_dir_all(folder.session(id)).unwrap();
        fs::write(folder.log(id), &whole[..cut]).unwrap();
        if cut + 1 < ends[0] {
            let error = backend.open(id, &known).await.unwrap_err();
            assert_eq!(error.code(), "SESSION_CORRUPT", "cut at {cut}");
            assert_eq!(fs::read(folder.log(id)).unwrap(), &whole[..cut], "cut at {cut}: refused but changed");
            continue;
        }
        // A line is complete with its last brace; its line feed may be missing.
        let complete = ends[1..].iter().filter(|end| **end <= cut + 1).count();
        let read = backend.inspect(id, &known).await.unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(read.stored, complete as u64, "cut at {cut}");
        if let Entry::Vacant(new) = seen.entry(complete) {
            let more =
                continued(&header, &read.events, |session| Script::turn(session, "after", "Yes.")).await;
            new.insert((encoded(&read.events), encoded(&more), more));
        }
        let (closed, added, more) = &seen[&complete];
        assert_eq!(closed[..complete], lines[..complete], "cut at {cut}");
        assert_eq!(encoded(&read.events), *closed, "cut at {cut}: the same events close differently");

        let opened = backend.open(id, &known).await.unwrap();
        assert_eq!(encoded(&opened.events), *closed, "cut at {cut}");
        opened.writer.close().await.unwrap();
        let start = *ends[..=complete].last().unwrap();
        if cut > start {
            let Some(RepairNote::TornTail { offset, bytes, set_aside: Some(aside), .. }) =
                opened.repairs.first()
            else {
                panic!("cut at {cut}: {:?}", opened.repairs)
            };
            assert_eq!((*offset, *bytes), (start as u64, (cut - start) as u64), "cut at {cut}");
            assert_eq!(
                fs::read(aside).unwrap(),
                &whole[start..cut],
                "cut at {cut}: the fragment is not kept"
            );
        }

        let mut again = backend.open(id, &known).await.unwrap();
        assert_eq!(encoded(&again.events), *closed, "cut at {cut}: the second load differs");
        assert_eq!(again.repairs, [], "cut at {cut}: the second load mends again");
        again.writer.append(more, Durability::Write).await.unwrap();
        again.writer.close().await.unwrap();
        let text = fs::read_to_string(folder.log(id)).unwrap();
        assert!(
            text.starts_with(std::str::from_utf8(&whole[..start.min(cut)]).unwrap()),
            "cut at {cut}: rewritten"
        );
        assert!(text.ends_with('\n'));
        assert_eq!(
            text.lines().count(),
            1 + again.events.len() + more.len(),
            "cut at {cut}: lines were glued"
        );
        let last = backend.inspect(id, &known).await.unwrap();
        assert_eq!(encoded(&last.events), [&closed[..], added].concat(), "cut at {cut}");
    }
}
