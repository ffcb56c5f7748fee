//! The same random drive gives the same log in both backends.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use std::path::Path;
use std::sync::Arc;

use harness_bundle::{BackendSetting, sections, storage};
use harness_config::{Config, Paths};
use harness_session::{Session, SessionHeader};
use harness_session_persistence::contract::{Script, continued, encoded};
use harness_session_persistence::{
    Durability, KnownTypes, PersistenceError, SessionPersistence, SessionWriter, copy_session,
};
use proptest::prelude::*;

/// One thing that happens to a session.
#[derive(Debug, Clone)]
enum Act {
    /// A whole turn, stored in batches of so many events.
    Turn { text: String, answer: String, calls: usize, batch: usize, sync: bool },
    /// A turn that is left open: the process ends in its middle, after so many of its calls.
    Killed { text: String, words: Vec<String>, started: bool },
    /// The session is closed and opened again.
    Reopen,
    /// A batch that does not follow.
    OutOfStep,
    /// A barrier alone.
    Barrier,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let text = "\\PC{0,20}|[\\x00-\\x1f\u{2028}\"\\\\]{1,5}|größer 🦀";
    let turn = (text, text, 0usize..3, 1usize..9, any::<bool>())
        .prop_map(|(text, answer, calls, batch, sync)| Act::Turn { text, answer, calls, batch, sync });
    let killed = (text, proptest::collection::vec(text, 1..4), any::<bool>())
        .prop_map(|(text, words, started)| Act::Killed { text, words, started });
    let act = prop_oneof![
        4 => turn, 2 => killed, 2 => Just(Act::Reopen), 1 => Just(Act::OutOfStep), 1 => Just(Act::Barrier)
    ];
    proptest::collection::vec(act, 1..10)
}

/// A backend with the session that is driven.
struct Driven {
    backend: Arc<dyn SessionPersistence>,
    header: SessionHeader,
    writer: Option<Box<dyn SessionWriter>>,
    /// The codes of what was refused, in order.
    refused: Vec<&'static str>,
}

impl Driven {
    fn new(root: &Path, backend: BackendSetting, header: &SessionHeader) -> Self {
        let config = sections(Config::builder()).build();
        let backend = storage(backend, &config, &Paths::under(root)).unwrap();
        Self { backend, header: header.clone(), writer: None, refused: vec![] }
    }
    async fn writer(&mut self) -> &mut Box<dyn SessionWriter> {
        if self.writer.is_none() {
            let opened = self.backend.open(self.header.id, &KnownTypes::default()).await;
            self.writer = Some(match opened {
                Ok(opened) => opened.writer,
                Err(PersistenceError::NotFound { .. }) => {
                    self.backend.create(self.header.clone()).await.unwrap()
                }
                Err(error) => panic!("{error}"),
            });
        }
        self.writer.as_mut().unwrap()
    }
    async fn reopen(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.close().await.unwrap();
        }
    }
    async fn log(&self) -> Vec<String> {
        match self.backend.inspect(self.header.id, &KnownTypes::default()).await {
            Ok(read) => encoded(&read.events[..usize::try_from(read.stored).unwrap()]),
            Err(error) => vec![error.code().to_owned()],
        }
    }
    async fn act(&mut self, act: &Act, events: &[Arc<harness_session::Event>]) {
        match act {
            Act::Turn { batch, sync, .. } => {
                let durability = if *sync { Durability::Sync } else { Durability::Write };
                for batch in events.chunks(*batch) {
                    self.writer().await.append(batch, durability).await.unwrap();
                }
            }
            Act::Killed { .. } => {
                self.writer().await.append(events, Durability::Sync).await.unwrap();
                self.reopen().await;
            }
            Act::Reopen => self.reopen().await,
            Act::OutOfStep => {
                let error = self.writer().await.append(&events[1..], Durability::Sync).await.unwrap_err();
                self.refused.push(error.code());
            }
            Act::Barrier => self.writer().await.append(&[], Durability::Sync).await.unwrap(),
        }
    }
}

fn play(session: &Session, act: &Act) {
    match act {
        Act::Turn { text, answer, calls, .. } => {
            let asked = [("a", "{}"), ("b", "{\"x\":1}")];
            let mut step = Script::open(session, text).answer(answer, &asked[..*calls]);
            for (position, (id, _)) in (0..).zip(&asked[..*calls]) {
                step = step.start(position, id).result(position, id, answer);
            }
            step.end();
        }
        Act::Killed { text, words, started } => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let step = Script::open(session, text);
            if *started {
                step.answer("", &[("k", "{}")]).start(0, "k");
            } else {
                step.stream(&words);
            }
        }
        Act::OutOfStep => Script::turn(session, "lost", "lost"),
        Act::Reopen | Act::Barrier => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn both_backends_hold_the_same_log(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let header = SessionHeader::new(1_700_000_000_000, Some("/w".to_owned()));
            let mut files = Driven::new(folder.path(), BackendSetting::Jsonl, &header);
            let mut rows = Driven::new(folder.path(), BackendSetting::Sqlite, &header);
            for act in &acts {
                // What an opening adds is part of what the next events follow.
                files.writer().await;
                rows.writer().await;
                let known = KnownTypes::default();
                let before = files.backend.inspect(header.id, &known).await.map_or(vec![], |read| read.events);
                let events = continued(&header, &before, |session| play(session, act)).await;
                files.act(act, &events).await;
                rows.act(act, &events).await;
                assert_eq!(files.log().await, rows.log().await, "after {act:?}");
            }
            assert_eq!(files.refused, rows.refused);
            files.reopen().await;
            rows.reopen().await;
            // And there and back through a fresh place.
            if !matches!(files.log().await.as_slice(), [code] if code == "SESSION_NOT_FOUND") {
                let other = tempfile::tempdir().unwrap();
                let copy = Driven::new(other.path(), BackendSetting::Jsonl, &header);
                let known = KnownTypes::default();
                copy_session(rows.backend.as_ref(), copy.backend.as_ref(), header.id, &known).await.unwrap();
                assert_eq!(copy.log().await, files.log().await);
            }
        });
    }
}
