//! Prints what storage costs here: barriers, loading, lists and bytes. Run it with `--release`; `loading` alone
//! measures only that.
#![expect(
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measuring program"
)]
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness_kernel::App;
use harness_llm::{BlockKind, Chunk, FinishReason};
use harness_session::{ChunkRecorder, Event, Session, SessionHeader, SessionPlugin, Sessions, Step};
use harness_session_jsonl::{Compression, JsonlConfig, JsonlPersistence};
use harness_session_persistence::contract::{Script, drive};
use harness_session_persistence::{Durability, KnownTypes, SessionPersistence, start_recorded};

fn main() {
    let folder = tempfile::tempdir().unwrap();
    for (name, runtime) in [
        ("current thread", tokio::runtime::Builder::new_current_thread().enable_all().build()),
        ("two workers", tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()),
    ] {
        println!("runtime: {name}");
        runtime.unwrap().block_on(measure(&folder.path().join(name)));
    }
}

async fn measure(root: &Path) {
    std::fs::create_dir_all(root).unwrap();
    if std::env::args().nth(1).as_deref() == Some("loading") {
        return loading(root).await;
    }
    barriers(root).await;
    loading(root).await;
    appends(root).await;
    if root.ends_with("two workers") {
        lists(&root.join("many")).await;
        flood(root).await;
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

async fn barriers(root: &Path) {
    let app = App::default().with(SessionPlugin::default()).start().await.unwrap();
    let sessions = app.ctx().service::<Sessions>().unwrap();
    for durability in [Durability::Sync, Durability::Write] {
        let config = JsonlConfig { durability, ..JsonlConfig::new(root.join("barriers")) };
        let backend = JsonlPersistence::new(config);
        let ctx = app.ctx().scope("agent");
        let recorded = start_recorded(&ctx, &sessions, &backend, SessionHeader::new(0, None)).await.unwrap();
        let started = Instant::now();
        let step = Script::open(&recorded.session, "hello");
        recorded.session.flush().await.unwrap();
        println!("  {durability:?}: first barrier {:?}", started.elapsed());
        let mut bare = File::options().append(true).create(true).open(root.join("bare")).unwrap();
        let (mut floor, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..400 {
            let started = Instant::now();
            bare.write_all(&[b'x'; 220]).unwrap();
            if durability == Durability::Sync {
                bare.sync_data().unwrap();
            }
            floor.push(started.elapsed());
            step.stream(&["one ", "two ", "three "]);
            let started = Instant::now();
            recorded.session.flush().await.unwrap();
            ours.push(started.elapsed());
        }
        println!("  {durability:?}: barrier {:?}, bare write {:?}", median(ours), median(floor));
        ctx.dispose().await.unwrap();
    }
    app.shutdown().await.unwrap();
}

fn steps(session: &Session, steps: u32) {
    for _ in 0..steps {
        let step =
            Script::open(session, "go on").answer(&"word ".repeat(40), &[("c0", "{\"command\":\"ls -la\"}")]);
        step.start(0, "c0").result(0, "c0", &"a line of output\n".repeat(60)).end();
    }
}

async fn loading(root: &Path) {
    let backend = JsonlPersistence::new(JsonlConfig::new(root.join("loading")));
    let header = SessionHeader::new(0, None);
    let events = drive(&header, |session| steps(session, 500)).await;
    let mut writer = backend.create(header.clone()).await.unwrap();
    writer.append(&events, Durability::Sync).await.unwrap();
    writer.close().await.unwrap();
    let bytes = std::fs::metadata(backend.locate(header.id).unwrap()).unwrap().len();
    let mut times = Vec::new();
    for _ in 0..40 {
        let started = Instant::now();
        let opened = backend.open(header.id, &KnownTypes::default()).await.unwrap();
        assert_eq!(opened.events.len(), events.len());
        times.push(started.elapsed());
    }
    println!("  open 500 steps ({} events, {bytes} bytes): {:?}", events.len(), median(times));
}

async fn appends(root: &Path) {
    let app = App::default().with(SessionPlugin::default()).start().await.unwrap();
    let sessions = app.ctx().service::<Sessions>().unwrap();
    let backend = JsonlPersistence::new(JsonlConfig::new(root.join("appends")));
    let recorded = start_recorded(app.ctx(), &sessions, &backend, SessionHeader::new(0, None)).await.unwrap();
    let step = Script::open(&recorded.session, "hello");
    let mut tenths = Vec::new();
    for _ in 0..10 {
        let started = Instant::now();
        for _ in 0..10_000 {
            step.stream(&["one "]);
        }
        tenths.push(started.elapsed() / 10_000);
        tokio::task::yield_now().await;
    }
    let started = Instant::now();
    recorded.session.flush().await.unwrap();
    println!(
        "  100k recorded appends: {:?} each at first, {:?} at last; last barrier {:?}",
        tenths[0],
        tenths[9],
        started.elapsed()
    );
    app.shutdown().await.unwrap();
}

async fn lists(root: &Path) {
    let backend =
        JsonlPersistence::new(JsonlConfig { durability: Durability::Write, ..JsonlConfig::new(root) });
    let header =
        SessionHeader { cwd: Some("/home/person/project".to_owned()), ..SessionHeader::new(0, None) };
    let events = drive(&header, |session| steps(session, 3)).await;
    for _ in 0..10_000 {
        let header = SessionHeader { cwd: header.cwd.clone(), ..SessionHeader::new(0, None) };
        let mut writer = backend.create(header).await.unwrap();
        writer.append(&events, Durability::Write).await.unwrap();
    }
    let floor = || {
        let mut found = 0;
        for entry in std::fs::read_dir(root).unwrap() {
            let mut file = File::open(entry.unwrap().path().join("log.jsonl")).unwrap();
            let mut head = [0; 4096];
            let n = std::io::Read::read(&mut file, &mut head).unwrap();
            let end = head[..n].iter().position(|byte| *byte == b'\n').unwrap();
            found += usize::from(
                harness_session::decode_header(std::str::from_utf8(&head[..end]).unwrap()).is_ok(),
            );
        }
        found
    };
    floor();
    let started = Instant::now();
    assert_eq!(floor(), 10_000);
    let scanned = started.elapsed();
    let started = Instant::now();
    assert_eq!(backend.list().await.unwrap().sessions.len(), 10_000);
    let listed = started.elapsed();
    let started = Instant::now();
    assert!(backend.latest(Some("/home/person/project")).await.unwrap().is_some());
    println!("  10,000 sessions: list {listed:?}, floor {scanned:?}, latest {:?}", started.elapsed());
}

/// Stored bytes of a long answer: one word repeated and prose; as fast as it goes and at 60 words a second, where a run
/// is stored every 200 ms.
async fn flood(root: &Path) {
    let prose = prose();
    let prose: Vec<String> = prose.split_whitespace().map(|word| format!("{word} ")).take(20_000).collect();
    let same = vec!["abc ".to_owned(); 20_000];
    for (name, words) in [("one word", same), ("prose", prose)] {
        for (speed, gap, flush) in [("at once", 0, usize::MAX), ("slowly", 16, 12)] {
            let header = SessionHeader::new(0, None);
            let events = answer(&header, &words, gap, flush).await;
            let text: usize = words.iter().map(String::len).sum();
            for compression in [Compression::None, Compression::Zstd] {
                let config = JsonlConfig::new(root.join(format!("{name} {speed} {compression:?}")));
                let config = JsonlConfig { compression, durability: Durability::Write, ..config };
                let backend = JsonlPersistence::new(config);
                let mut writer = backend.create(header.clone()).await.unwrap();
                let started = Instant::now();
                let batch = if flush == usize::MAX { events.len() } else { 1 };
                for events in events.chunks(batch) {
                    writer.append(events, Durability::Write).await.unwrap();
                }
                let wrote = started.elapsed();
                writer.close().await.unwrap();
                let bytes = std::fs::metadata(backend.locate(header.id).unwrap()).unwrap().len();
                let started = Instant::now();
                backend.open(header.id, &KnownTypes::default()).await.unwrap();
                println!(
                    "  {} chunks of {name} {speed}, {compression:?}: {bytes} bytes, {:.2} a byte of text; written in \
                     {wrote:?}, opened in {:?}",
                    words.len(),
                    bytes as f64 / text as f64,
                    started.elapsed()
                );
            }
        }
    }
}

/// The documents of this repository, which nobody wrote for this.
fn prose() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["docs", "docs/decisions", "docs/cookbook"].map(|folder| root.join(folder)).into_iter();
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.chain(crates).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

async fn answer(header: &SessionHeader, words: &[String], gap: i64, flush: usize) -> Vec<Arc<Event>> {
    drive(header, |session| {
        Script::open(session, "go");
        let mut recorder = ChunkRecorder::new(Step { turn: 1, step: 1 }, 1);
        let (mut now, mut held) = (0, 0);
        let mut push = |chunk: &Chunk| {
            held += 1;
            // Gaps that differ, as they do on a network.
            now += if gap == 0 { 0 } else { gap + now * 7 % 9 - 4 };
            if recorder.push(now, chunk) || held >= flush {
                held = 0;
                let seq = session.append(recorder.take_run().unwrap()).unwrap().seq;
                recorder.logged(seq);
            }
        };
        push(&Chunk::BlockStart { index: 0, kind: BlockKind::Text });
        for word in words {
            push(&Chunk::TextDelta { index: 0, text: word.clone() });
        }
        push(&Chunk::BlockEnd { index: 0, block: None });
        push(&Chunk::Finish(FinishReason::Stop.into()));
        if let Some(run) = recorder.take_run() {
            let seq = session.append(run).unwrap().seq;
            recorder.logged(seq);
        }
        session.append(recorder.message("p", "m")).unwrap();
    })
    .await
}
