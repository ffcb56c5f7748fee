//! Compressed logs: the same promises as plain ones.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at files")]
use std::fs;
use std::sync::Arc;

use async_trait::async_trait;
use harness_kernel::App;
use harness_session::{Event, SessionHeader, SessionId, SessionPlugin, Sessions};
use harness_session_jsonl::{Compression, JsonlConfig, JsonlPersistence};
use harness_session_persistence::contract::{
    ContractStore, Damage, OtherProcess, Script, continued, drive, encoded, run_persistence_contract,
};
use harness_session_persistence::{Durability, KnownTypes, RepairNote, SessionPersistence, start_recorded};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

mod rig;
use rig::{Copy, Folder, task, told};

struct Compressed(Folder);

fn quick(folder: &Folder, compression: Compression) -> JsonlPersistence {
    let config = JsonlConfig::new(folder.root());
    JsonlPersistence::new(JsonlConfig { compression, durability: Durability::Write, ..config })
}

#[async_trait]
impl ContractStore for Compressed {
    fn connect(&self) -> Arc<dyn SessionPersistence> {
        let config = JsonlConfig::new(self.0.root());
        Arc::new(JsonlPersistence::new(JsonlConfig { compression: Compression::Zstd, ..config }))
    }
    fn connect_through_link(&self, _: SessionId) -> Option<Arc<dyn SessionPersistence>> {
        None // locks know nothing of compression
    }
    fn fingerprint(&self, id: SessionId) -> Vec<u8> {
        let Ok(mut content) = fs::read(self.0.log(id)) else { return vec![] };
        let names = self.0.beside(id).into_iter().filter(|name| name != "owner.json");
        content.extend(names.collect::<String>().into_bytes());
        content
    }
    fn damage(&self, id: SessionId, damage: Damage) -> bool {
        let log = self.0.log(id);
        let bytes = fs::read(&log).unwrap();
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let first = lines.iter().position(|line| line[0] == b'Z').expect("something is compressed");
        match damage {
            Damage::NoTerminator => drop(lines.last_mut().unwrap().pop()),
            Damage::BlankRecords => lines.push(b"\n \n".to_vec()),
            Damage::HeaderOnly => lines.truncate(1),
            Damage::Empty => lines.clear(),
            Damage::Garbled => lines[first][20] ^= 4,
            Damage::Missing => drop(lines.remove(first + 1)),
            Damage::NewerFormat => {
                let header = String::from_utf8(lines[0].clone()).unwrap();
                lines[0] = header.replacen("\"version\":1", "\"version\":2", 1).into_bytes();
            }
            // A torn line takes its whole batch with it; see below.
            _ => return false,
        }
        fs::write(log, lines.concat()).unwrap();
        true
    }
    async fn other_process(&self, _: SessionId) -> Option<Box<dyn OtherProcess>> {
        None
    }
}

#[tokio::test]
async fn compressed_logs_pass_the_contract() {
    let skipped = run_persistence_contract(|| Compressed(Folder::new())).await;
    assert_eq!(
        skipped,
        ["damaged::torn_character", "leasing::through_a_link", "leasing::a_killed_owner_leaves_nothing"]
    );
}

/// Two turns of which each event is its own batch.
async fn many_batches(folder: &Folder, header: &SessionHeader) -> Vec<Arc<Event>> {
    let events = drive(header, |session| {
        Script::turn(session, "größer 🦀", "Ja. Ja. Ja.");
        let step = Script::open(session, "zwei").answer("é", &[("c0", "{\"a\":\"ö\"}")]);
        step.start(0, "c0").result(0, "c0", &"fein 🦀 ".repeat(9)).end();
    })
    .await;
    let mut writer = quick(folder, Compression::Zstd).create(header.clone()).await.unwrap();
    for event in &events {
        writer.append(std::slice::from_ref(event), Durability::Write).await.unwrap();
    }
    writer.close().await.unwrap();
    events
}

#[tokio::test]
async fn every_cut_keeps_every_batch_before_it() {
    let folder = Folder::new();
    let header = SessionHeader::new(1_700_000_000_000, None);
    let events = many_batches(&folder, &header).await;
    let whole = fs::read(folder.log(header.id)).unwrap();
    let ends: Vec<usize> = (1..=whole.len()).filter(|end| whole[end - 1] == b'\n').collect();
    assert_eq!(ends.len(), events.len() + 1, "each batch is a line");
    let marks: Vec<u8> = ends[..events.len()].iter().map(|end| whole[*end]).collect();
    assert!([b'Z', b'z', b'{'].iter().all(|mark| marks.contains(mark)), "{marks:?}");
    let (lines, known, id) = (encoded(&events), KnownTypes::default(), header.id);
    let backend = quick(&folder, Compression::Zstd);
    for cut in ends[0]..=whole.len() {
        fs::remove_dir_all(folder.session(id)).unwrap();
        fs::create_dir_all(folder.session(id)).unwrap();
        fs::write(folder.log(id), &whole[..cut]).unwrap();
        let complete = ends[1..].iter().filter(|end| **end <= cut + 1).count();
        let opened = backend.open(id, &known).await.unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(encoded(&opened.events)[..complete], lines[..complete], "cut at {cut}");
        opened.writer.close().await.unwrap();
        let start = *ends[..=complete].last().unwrap();
        if cut > start {
            let Some(RepairNote::TornTail { offset, bytes, set_aside: Some(aside), .. }) =
                opened.repairs.first()
            else {
                panic!("cut at {cut}: {:?}", opened.repairs)
            };
            assert_eq!((*offset, *bytes), (start as u64, (cut - start) as u64), "cut at {cut}");
            assert_eq!(fs::read(aside).unwrap(), &whole[start..cut], "cut at {cut}");
        }
        let mut again = backend.open(id, &known).await.unwrap();
        assert_eq!(encoded(&again.events), encoded(&opened.events), "cut at {cut}: the second load differs");
        assert_eq!(again.repairs, [], "cut at {cut}: the second load mends again");
        let more = continued(&header, &again.events, |session| Script::turn(session, "after", "Yes.")).await;
        again.writer.append(&more, Durability::Write).await.unwrap();
        again.writer.close().await.unwrap();
        let last = backend.inspect(id, &known).await.unwrap();
        assert_eq!(encoded(&last.events), [encoded(&opened.events), encoded(&more)].concat(), "cut at {cut}");
    }
}

/// Whatever happens to a byte: nothing wrong is read, and what is left can be kept.
#[tokio::test]
async fn no_flipped_bit_changes_what_is_read() {
    let folder = Folder::new();
    let header = SessionHeader::new(1_700_000_000_000, None);
    let events = many_batches(&folder, &header).await;
    let (log, known, id) = (folder.log(header.id), KnownTypes::default(), header.id);
    let whole = fs::read(&log).unwrap();
    let backend = quick(&folder, Compression::Zstd);
    let mut from = 0;
    for line in whole.split_inclusive(|byte| *byte == b'\n') {
        let packed = [b'Z', b'z'].contains(&line[0]);
        for at in (from..from + line.len()).filter(|_| packed) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::write(&log, &damaged).unwrap();
            match backend.inspect(id, &known).await {
                Err(error) => assert_eq!(error.code(), "SESSION_CORRUPT", "byte {at}: {error}"),
                Ok(read) => {
                    let stored = usize::try_from(read.stored).unwrap();
                    assert_eq!(encoded(&read.events[..stored]), encoded(&events[..stored]), "byte {at}");
                    assert!(stored == events.len() || !read.repairs.is_empty(), "byte {at}: lost in silence");
                    continue;
                }
            }
            if at % 40 == 0 {
                let before = backend.check(id, &known).await.unwrap();
                assert!(!before.faults.is_empty(), "byte {at}");
                let report = backend.repair(id, &known, false).await.unwrap();
                assert_eq!(fs::read(report.backup.unwrap()).unwrap(), damaged, "byte {at}");
                let read = backend.inspect(id, &known).await.unwrap();
                assert!(read.events.len() >= report.kept, "byte {at}");
            }
        }
        from += line.len();
    }
}

#[tokio::test]
async fn a_missing_line_of_a_run_is_named() {
    let folder = Folder::new();
    let header = SessionHeader::new(1_700_000_000_000, None);
    many_batches(&folder, &header).await;
    let log = folder.log(header.id);
    let whole = fs::read(&log).unwrap();
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    // The last of them all, so that it could be taken for a torn one.
    let keep = (1..lines.len()).find(|at| lines[*at][0] == b'z').unwrap();
    lines.truncate(keep + 2);
    assert_eq!(lines[keep + 1][0], b'z');
    lines.remove(keep);
    fs::write(&log, lines.concat()).unwrap();
    let error = quick(&folder, Compression::None).open(header.id, &KnownTypes::default()).await.unwrap_err();
    let place = format!("log.jsonl, line {} (byte ", keep + 1);
    assert!(error.to_string().contains(&place), "{error}");
    assert!(error.to_string().contains("the compressed line before it is missing or damaged"), "{error}");
}

#[tokio::test]
async fn both_forms_may_follow_each_other() {
    let folder = Folder::new();
    let header = SessionHeader { cwd: Some("/work".to_owned()), ..SessionHeader::new(0, None) };
    let mut events = drive(&header, |session| Script::turn(session, "turn 0", "Yes.")).await;
    let mut writer = quick(&folder, Compression::None).create(header.clone()).await.unwrap();
    writer.append(&events, Durability::Write).await.unwrap();
    writer.close().await.unwrap();
    for turn in 1..5 {
        let form = if turn % 2 == 1 { Compression::Zstd } else { Compression::None };
        let before = fs::read(folder.log(header.id)).unwrap();
        let mut opened = quick(&folder, form).open(header.id, &KnownTypes::default()).await.unwrap();
        assert_eq!((encoded(&opened.events), opened.repairs), (encoded(&events), vec![]));
        let more =
            continued(&header, &events, |session| Script::turn(session, &format!("turn {turn}"), "Yes."))
                .await;
        opened.writer.append(&more, Durability::Write).await.unwrap();
        opened.writer.close().await.unwrap();
        events.extend(more);
        let after = fs::read(folder.log(header.id)).unwrap();
        assert!(after.starts_with(&before), "turn {turn}: rewritten");
        let packed = after[before.len()..].split(|byte| *byte == b'\n').any(|line| line.starts_with(b"Z"));
        assert_eq!(packed, form == Compression::Zstd, "turn {turn}");
    }
    let listed = quick(&folder, Compression::None).list().await.unwrap().sessions.pop().unwrap();
    assert_eq!((listed.events, listed.turns), (Some(events.len() as u64), Some(5)));
    assert_eq!(listed.title.as_deref(), Some("turn 0"));
}

#[tokio::test]
async fn a_full_disk_leaves_nothing_that_later_lines_refer_to() {
    let folder = Folder::new();
    let id = SessionHeader::new(0, None).id;
    let mut copy = Copy::run_limited("full_disk_process", &told(&folder.root(), id), 16);
    let failures: usize = copy.hear("failures").expect("the disk gets full").parse().unwrap();
    assert!(failures > 1);
    let total: usize = copy.hear("recovered with").expect("it recovers").parse().unwrap();
    assert!(copy.wait());
    let session = folder.backend().list().await.unwrap().sessions.pop().unwrap();
    let opened = folder.backend().open(session.header.id, &KnownTypes::default()).await.unwrap();
    assert_eq!((opened.events.len(), opened.repairs.len()), (total, 0));
}

/// Fills its limit, fails a second time, raises the limit and goes on.
#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn full_disk_process() {
    let (root, _) = task();
    let app = App::default().with(SessionPlugin::default()).start().await.unwrap();
    let sessions = app.ctx().service::<Sessions>().unwrap();
    let config = JsonlConfig::new(root);
    let backend = JsonlPersistence::new(JsonlConfig { compression: Compression::Zstd, ..config });
    let recorded = start_recorded(app.ctx(), &sessions, &backend, SessionHeader::new(0, None)).await.unwrap();
    let session = recorded.session;
    let (mut turns, mut failures) = (0_u64, 0);
    while failures < 3 {
        // Text that hardly gets smaller.
        let words =
            (0..400_u64).map(|n| format!("{:x} ", (turns * 400 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        Script::turn(&session, "fill", &words.collect::<String>());
        failures += u32::from(session.flush().await.is_err());
        turns += 1;
    }
    println!("failures {failures}");
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: maximum, maximum }).unwrap();
    session.flush().await.unwrap();
    Script::turn(&session, "after", "Yes.");
    session.flush().await.unwrap();
    println!("recovered with {}", session.view().len());
    app.shutdown().await.unwrap();
}
