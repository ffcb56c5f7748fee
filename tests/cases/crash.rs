//! The real program is killed at random moments: what it had acknowledged is there, and loads the same each time.
//!
//! Written over the backend's name; what was stored is read through the backend itself.
use std::time::{Duration, Instant};

use harness_bundle::{Harness, sections};
use harness_config::{Config, Environment, Paths};
use harness_llm::{Block, Message, Role};
use harness_llm_mock::{Reply, Script, ToolCall};
use harness_session::{Body, Derivation, Event, Form, SessionId, Sessions, encode_event};
use harness_session_persistence::{KnownTypes, Snapshot};
use harness_testkit::{KEY, Rig};
use serde_json::Value;

/// Kills a backend gets, over all worlds.
const KILLS: usize = 240;
/// Worlds that are driven side by side.
const WORLDS: usize = 4;
/// After this time a world stops, and the test says how far it came.
const BOUND: Duration = Duration::from_secs(55);

#[test]
fn no_kill_loses_what_was_acknowledged_jsonl() {
    kills("jsonl");
}

#[test]
fn no_kill_loses_what_was_acknowledged_sqlite() {
    kills("sqlite");
}

fn kills(backend: &'static str) {
    let since = Instant::now();
    let worlds: Vec<_> =
        (0..WORLDS as u64).map(|seed| std::thread::spawn(move || world(backend, seed, since))).collect();
    let mut sum = Tally::default();
    for world in worlds {
        let tally = world.join().expect("no world fails");
        sum.kills += tally.kills;
        sum.open_turns += tally.open_turns;
        sum.requests += tally.requests;
        sum.effects += tally.effects;
    }
    assert!(sum.kills >= KILLS, "only {} kills in {BOUND:?}", sum.kills);
    // Otherwise the test proves little.
    assert!(sum.open_turns > KILLS / 10 && sum.requests > KILLS / 2 && sum.effects > KILLS / 10, "{sum:?}");
}

#[derive(Debug, Default)]
struct Tally {
    kills: usize,
    /// Kills that left a turn open.
    open_turns: usize,
    /// Model requests seen.
    requests: usize,
    /// Tool bodies that ran.
    effects: usize,
}

fn replies() -> Script {
    let call = ToolCall::new("bash", r#"{"command":"echo x >> effects; echo ran"}"#).id("c1");
    let asks = Reply::new().pieces(["Let me ", "look. "]).call(call).drip(40, 2);
    let words = ["one ", "größer 🦀 ", "three ", "four."];
    let answers = Reply::new().pieces(words).drip(25, 2);
    Script::new([
        asks.when_last_message_contains("prompt").times(u32::MAX),
        answers.when_last_message_contains("ran").times(u32::MAX),
    ])
}

/// Many kills of one session after the other.
fn world(backend: &str, seed: u64, since: Instant) -> Tally {
    let rig = Rig::with_script(env!("CARGO_BIN_EXE_harness"), replies());
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut tally = Tally::default();
    let mut session: Option<(SessionId, Vec<String>)> = None;
    let mut ids: Vec<SessionId> = Vec::new();
    let store = rig.block_on(store(&rig, backend));
    while tally.kills < KILLS.div_ceil(WORLDS) && since.elapsed() < BOUND {
        // A session of its own now and then, so that the very first write is hit as well.
        let fresh = tally.kills % 8 == 0;
        if fresh {
            session = None;
        }
        let before = rig.server().requests().len();
        let effects = effects(&rig);
        let started_calls = session.as_ref().map_or(0, |(_, lines)| calls(lines));
        let prompt = format!("prompt {}", tally.kills);
        let mut run = rig.run_with(&prompt, []);
        if let Some((id, _)) = &session {
            run = run.args(["--resume", &id.to_string()]);
        }
        if backend != "jsonl" {
            run = run.env("HARNESS_SESSION_BACKEND", backend);
        }
        let started = run.start();
        // Some moments count from the start; more from a request, when things are being written.
        let wanted = usize::try_from(random.below(3)).expect("small");
        if wanted > 0 {
            let patience = Instant::now();
            while rig.server().requests().len() < before + wanted
                && patience.elapsed() < Duration::from_secs(5)
            {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        std::thread::sleep(Duration::from_micros(random.below(if wanted == 0 { 150_000 } else { 40_000 })));
        started.kill();
        tally.kills += 1;

        let requests = rig.server().requests();
        let last =
            requests[before..].last().map(|request| request.json().expect("a request is JSON").clone());
        tally.requests += requests.len() - before;
        let id = if let Some((id, _)) = &session {
            *id
        } else {
            let newest = rig.block_on(store.persistence().expect("there is storage").latest(None));
            let newest = newest.expect("the list is readable").map(|newest| newest.header.id);
            let Some(id) = newest.filter(|id| !ids.contains(id)) else {
                assert!(last.is_none(), "a request was made of a session that is not stored");
                continue;
            };
            id
        };
        let place = format!("{backend}, world {seed}, kill {}", tally.kills);
        let read = rig.block_on(load(&store, id, &place));
        let lines = encoded(&read);
        if let Some((_, earlier)) = &session {
            assert_eq!(lines[..earlier.len()], earlier[..], "{place}: earlier events changed");
        }
        tally.open_turns += usize::from(read.stored < read.events.len() as u64);
        if let Some(request) = last {
            holds_the_request(&read, &request, &place);
        }
        let ran = self::effects(&rig) - effects;
        tally.effects += ran;
        assert!(calls(&lines) >= started_calls + ran, "{place}: a tool ran whose start is not stored");
        ids.push(id);
        session = Some((id, lines));
    }
    rig.block_on(store.shutdown()).expect("storage closes");
    tally
}

async fn store(rig: &Rig, backend: &str) -> Harness {
    let mut variables = vec![
        ("HOME".to_owned(), rig.home().display().to_string()),
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ("OPENAI_API_KEY".to_owned(), KEY.to_owned()),
    ];
    if backend != "jsonl" {
        variables.push(("HARNESS_SESSION_BACKEND".to_owned(), backend.to_owned()));
    }
    let environment: Environment = variables.into_iter().collect();
    let paths = Paths::resolve(&environment).expect("a home gives paths");
    let config = sections(Config::builder()).environment(&environment).expect("legal settings").build();
    Harness::start(&config, &environment, &paths).await.expect("it starts")
}

/// Reads, opens, and reads again: the same each time, and closed the second time.
async fn load(store: &Harness, id: SessionId, place: &str) -> Snapshot {
    let known = KnownTypes::from(&*store.ctx().service::<Sessions>().expect("there are sessions"));
    let persistence = store.persistence().expect("there is storage");
    let failed = |error| panic!("{place}: {error}");
    let first = persistence.inspect(id, &known).await.unwrap_or_else(failed);
    let opened = persistence.open(id, &known).await.unwrap_or_else(|error| panic!("{place}: {error}"));
    opened.writer.close().await.unwrap_or_else(|error| panic!("{place}: {error}"));
    let again = persistence.inspect(id, &known).await.unwrap_or_else(|error| panic!("{place}: {error}"));
    assert_eq!(encoded(&first), encoded(&again), "{place}: it loads differently");
    assert_eq!(again.stored, again.events.len() as u64, "{place}: the turn was not closed for good");
    assert_eq!(persistence.check(id, &known).await.expect("checked").faults, [], "{place}");
    first
}

fn encoded(read: &Snapshot) -> Vec<String> {
    read.events.iter().map(|event| encode_event(event, Form::Full).expect("it has a form")).collect()
}
fn calls(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.contains("\"type\":\"tool/call\"")).count()
}
fn effects(rig: &Rig) -> usize {
    std::fs::read_to_string(rig.workspace().join("effects")).map_or(0, |text| text.lines().count())
}

/// Whatever the model was sent is in the log, in its order.
fn holds_the_request(read: &Snapshot, request: &Value, place: &str) {
    let stored = &read.events[..usize::try_from(read.stored).expect("it fits")];
    let derived = Derivation::of(stored.iter().map(|event| &**event)).expect("it derives");
    let have: Vec<String> = derived.messages().map(|message| said(message)).collect();
    let sent = request["messages"].as_array().expect("messages").iter();
    let sent: Vec<String> = sent.filter(|message| message["role"] != "system").map(wire).collect();
    assert!(have.len() >= sent.len(), "{place}: {have:#?} lacks some of {sent:#?}");
    assert_eq!(have[..sent.len()], sent[..], "{place}: the log does not hold what was sent");
    let header = |event: &&std::sync::Arc<Event>| matches!(event.body, Body::RequestHeader(_));
    assert!(stored.iter().any(|event| header(&event)), "{place}: the request's header is missing");
}
fn said(message: &Message) -> String {
    let results: String = message
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolResult(result) => {
                Some(result.content.iter().filter_map(Block::as_text).collect::<String>())
            }
            _ => None,
        })
        .collect();
    let role = match message.role {
        Role::Assistant => "assistant",
        _ if !results.is_empty() => "tool",
        _ => "user",
    };
    format!("{role}: {}{results}", message.text())
}
fn wire(message: &Value) -> String {
    let text = message["content"].as_str().unwrap_or_default();
    format!("{}: {text}", message["role"].as_str().expect("a role"))
}

/// Xorshift: the same moments in each run, as far as the machine allows.
struct Random(u64);
impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
