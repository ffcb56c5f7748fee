//! The exported suite, with damage done to the bytes and owners that are killed.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failed arrangement fails the test")]
#![expect(clippy::disallowed_methods, reason = "tests look at files")]
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use async_trait::async_trait;
use harness_session::SessionId;
use harness_session_persistence::contract::{ContractStore, Damage, OtherProcess, run_persistence_contract};
use harness_session_persistence::{KnownTypes, SessionPersistence};

mod rig;
use rig::{Copy, Folder, backend, task, told};

#[async_trait]
impl ContractStore for Folder {
    fn connect(&self) -> Arc<dyn SessionPersistence> {
        Arc::new(self.backend())
    }
    fn connect_through_link(&self, id: SessionId) -> Option<Arc<dyn SessionPersistence>> {
        let elsewhere = self.0.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join(id.to_string())).unwrap();
        symlink(self.log(id), elsewhere.join(id.to_string()).join("log.jsonl")).unwrap();
        Some(Arc::new(backend(&elsewhere)))
    }
    fn fingerprint(&self, id: SessionId) -> Vec<u8> {
        let Ok(mut content) = fs::read(self.log(id)) else { return vec![] };
        let names = self.beside(id).into_iter().filter(|name| name != "owner.json");
        content.extend(names.collect::<String>().into_bytes());
        content
    }
    fn damage(&self, id: SessionId, damage: Damage) -> bool {
        let log = self.log(id);
        let mut bytes = fs::read(&log).unwrap();
        let starts: Vec<usize> = (0..bytes.len()).filter(|at| *at == 0 || bytes[at - 1] == b'\n').collect();
        match damage {
            Damage::TornCharacter => {
                let last = bytes.iter().rposition(|byte| *byte >= 0x80).unwrap();
                bytes.truncate(last);
                assert!(std::str::from_utf8(&bytes).is_err());
            }
            Damage::NoTerminator => bytes.truncate(bytes.len() - 1),
            Damage::BlankRecords => bytes.extend(b"\n \n"),
            Damage::HeaderOnly => bytes.truncate(starts[1]),
            Damage::Empty => bytes.clear(),
            Damage::Garbled => bytes[starts[4]] = b'x',
            Damage::Missing => drop(bytes.drain(starts[4]..starts[5])),
            Damage::NewerFormat => {
                let text = String::from_utf8(bytes).unwrap();
                bytes = text.replacen("\"version\":1", "\"version\":2", 1).into_bytes();
            }
            _ => return false,
        }
        fs::write(log, bytes).unwrap();
        true
    }
    async fn other_process(&self, id: SessionId) -> Option<Box<dyn OtherProcess>> {
        let mut copy = Copy::run("owner_process", &told(&self.root(), id));
        copy.hear("ready").expect("the copy has the lease");
        Some(Box::new(copy))
    }
}

#[tokio::test]
async fn jsonl_passes_the_contract() {
    assert_eq!(run_persistence_contract(Folder::new).await, Vec::<&str>::new());
}

/// Opens a session and holds it until it is killed.
#[tokio::test]
#[ignore = "run by other tests as a process of its own"]
async fn owner_process() {
    let (root, id) = task();
    let _opened = backend(&root).open(id, &KnownTypes::default()).await.unwrap();
    println!("ready");
    std::io::stdin().read_to_end(&mut vec![]).unwrap();
}
