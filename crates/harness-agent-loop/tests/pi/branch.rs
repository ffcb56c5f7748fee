//! The row of branching: a fork of the session.
use std::ops::ControlFlow;
use std::sync::Arc;

use harness_agent::{AgentFactory, CreateAgent, SessionStartSource};
use harness_llm::Message;
use harness_session::{Body, Sessions};
use harness_session_persistence::contract::MemoryPersistence;
use harness_session_persistence::{
    BeforeFork, BeforeForkDecision, Durability, Fork, ForkError, KnownTypes, Recorded, SessionPersistence,
    fork_recorded,
};

use crate::rig::{Rig, text};
use crate::said;

struct World {
    rig: Rig,
    store: MemoryPersistence,
}
impl World {
    /// Two turns are stored.
    async fn new() -> Self {
        let rig = Rig::new(["1", "2", "3"].map(text)).await;
        rig.go("a").await;
        rig.go("b").await;
        let store = MemoryPersistence::default();
        let mut writer = store.create(rig.agent.session().header().clone()).await.unwrap();
        writer.append(&rig.events(), Durability::Sync).await.unwrap();
        writer.close().await.unwrap();
        Self { rig, store }
    }
    async fn fork(&self, turn: Option<u32>) -> Result<Recorded, ForkError> {
        let scope = self.rig.app.ctx().scope("fork");
        let sessions = scope.service::<Sessions>().unwrap();
        let fork = Fork { parent: self.rig.agent.id(), turn, created_at: 7 };
        fork_recorded(&scope, &sessions, &self.store, fork).await
    }
    async fn stored(&self) -> usize {
        self.store.list().await.unwrap().sessions.len()
    }
    fn answer(&self, answer: impl Fn(&BeforeFork) -> BeforeForkDecision + Send + Sync + 'static) {
        self.rig.app.ctx().on_serial::<BeforeFork, _>(move |event| {
            let answer = answer(&event);
            async move { ControlFlow::Break(answer) }
        });
    }
}

#[tokio::test]
async fn session_before_tree() {
    let world = World::new().await;
    world.answer(|event| {
        assert_eq!(event.turn, 1);
        let left = event.left.iter().find_map(|event| match &event.body {
            Body::UserMessage(user) => Some(user.message.text()),
            _ => None,
        });
        BeforeForkDecision::Summary(format!("tried and left: {}", left.unwrap()))
    });
    let fork = world.fork(Some(1)).await.unwrap();
    let id = fork.session.id();
    let parent = world.rig.agent.session().header();
    assert_eq!(fork.session.header().parent, Some(parent.id));
    // Stored with its lineage, the summary included; the parent is as it was.
    let stored = world.store.inspect(id, &KnownTypes::default()).await.unwrap();
    assert_eq!(stored.header, *fork.session.header());
    assert_eq!(stored.events.len() as u64, stored.header.inherited + 1);
    let whole = world.store.inspect(parent.id, &KnownTypes::default()).await.unwrap();
    assert_eq!(whole.events.len(), world.rig.events().len());

    let factory = world.rig.app.ctx().service::<dyn AgentFactory>().unwrap();
    let options = world.rig.agent.options();
    let create = CreateAgent { session: fork.session, options, source: SessionStartSource::Startup };
    let agent = factory.create(create).await.unwrap();
    agent.followup(Message::user("c")).unwrap();
    agent.when_idle().await;
    let requests = world.rig.script.requests();
    assert_eq!(said(&requests[2]), ["a", "1", "tried and left: b", "c"]);
    world.rig.app.shutdown().await.unwrap();
}

#[tokio::test]
async fn session_before_tree_cancel() {
    let world = World::new().await;
    let refused = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let first = Arc::clone(&refused);
    world.answer(move |event| {
        assert!(!first.swap(true, std::sync::atomic::Ordering::SeqCst), "second: a panic");
        assert_eq!((event.turn, event.left.len()), (2, 0), "without a turn the newest completed one is kept");
        BeforeForkDecision::Reject { reason: "stay here".into() }
    });
    let rejected = world.fork(None).await.err().unwrap();
    assert_eq!(
        (rejected.code(), rejected.to_string().contains("stay here")),
        ("SESSION_FORK_REJECTED", true)
    );
    let panicked = world.fork(None).await.err().unwrap();
    assert!(panicked.to_string().contains("second: a panic"), "{panicked}");
    let absent = world.fork(Some(9)).await.err().unwrap();
    assert!(
        absent.to_string().contains("turn 9") && absent.to_string().contains("last one is 2"),
        "{absent}"
    );
    assert_eq!(world.stored().await, 1, "nothing is stored");
    world.rig.app.shutdown().await.unwrap();
}
