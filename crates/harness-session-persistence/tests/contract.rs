//! The suite, tried on the in-memory backend.
#![allow(clippy::unwrap_used, reason = "a failed arrangement fails the test")]
use std::sync::Arc;

use async_trait::async_trait;
use harness_session::{FORMAT_VERSION, Form, SessionId, encode_event};
use harness_session_persistence::SessionPersistence;
use harness_session_persistence::contract::{
    ContractStore, Damage, MemoryPersistence, OtherProcess, run_persistence_contract,
};

struct Memory(MemoryPersistence);

#[async_trait]
impl ContractStore for Memory {
    fn connect(&self) -> Arc<dyn SessionPersistence> {
        Arc::new(self.0.clone())
    }
    fn connect_through_link(&self, _: SessionId) -> Option<Arc<dyn SessionPersistence>> {
        None
    }
    fn fingerprint(&self, id: SessionId) -> Vec<u8> {
        let events = self.0.stored(id);
        let lines = events.iter().map(|event| encode_event(event, Form::Full).unwrap());
        lines.collect::<Vec<_>>().join("\n").into_bytes()
    }
    fn damage(&self, id: SessionId, damage: Damage) -> bool {
        match damage {
            Damage::HeaderOnly => self.0.tamper(id, |_, events| events.clear()),
            Damage::Missing => self.0.tamper(id, |_, events| drop(events.remove(4))),
            Damage::NewerFormat => self.0.tamper(id, |header, _| header.version = FORMAT_VERSION + 1),
            _ => return false,
        }
        true
    }
    async fn other_process(&self, _: SessionId) -> Option<Box<dyn OtherProcess>> {
        None
    }
}

#[tokio::test]
async fn memory_passes_the_contract() {
    let skipped = run_persistence_contract(|| Memory(MemoryPersistence::default())).await;
    assert_eq!(
        skipped,
        [
            "damaged::torn_character",
            "damaged::no_terminator",
            "damaged::blank_records",
            "damaged::empty",
            "damaged::garbled",
            "leasing::through_a_link",
            "leasing::a_killed_owner_leaves_nothing",
        ]
    );
}
