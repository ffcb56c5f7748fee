//! A live session over the in-memory backend.
use std::sync::{Arc, Mutex};

use harness_kernel::{App, Ctx, Running};
use harness_session::{Body, InboxSpliced, InboxTarget, Session, SessionHeader, SessionPlugin, Sessions};
use harness_session_persistence::contract::MemoryPersistence;
use harness_session_persistence::{
    Recorder, RecorderOptions, SessionPersistence, StorageFailed, StorageRecovered,
};

pub(crate) struct Rig {
    pub(crate) app: Running,
    pub(crate) ctx: Ctx,
    pub(crate) store: MemoryPersistence,
    pub(crate) session: Arc<Session>,
    pub(crate) recorder: Recorder,
    /// What was told about storage, in order.
    pub(crate) told: Arc<Mutex<Vec<String>>>,
}

impl Rig {
    pub(crate) async fn new(options: RecorderOptions) -> Self {
        let app = App::default().with(SessionPlugin::default()).start().await.unwrap();
        let ctx = app.ctx().scope("agent");
        let sessions = ctx.service::<Sessions>().unwrap();
        let store = MemoryPersistence::default();
        let header = SessionHeader::new(0, None);
        let writer = store.create(header.clone()).await.unwrap();
        let session = sessions.create(&ctx, header, vec![]).unwrap();
        let told = Arc::new(Mutex::new(vec![]));
        let failed = Arc::clone(&told);
        ctx.on::<StorageFailed>(move |event| {
            failed.lock().unwrap().push(format!("{} waiting: {}", event.waiting, event.error));
        });
        let recovered = Arc::clone(&told);
        ctx.on::<StorageRecovered>(move |_| recovered.lock().unwrap().push("recovered".to_owned()));
        let recorder = Recorder::attach(&session, writer, options).unwrap();
        Self { app, ctx, store, session, recorder, told }
    }
    /// Appends events that may stand anywhere.
    pub(crate) fn append(&self, events: usize) {
        for _ in 0..events {
            append(&self.session);
        }
    }
    /// Batches that were stored, as ranges of sequence numbers.
    pub(crate) fn batches(&self) -> Vec<(u64, u64)> {
        let writes = self.store.writes().into_iter().filter(|write| write.stored && !write.events.is_empty());
        writes.map(|write| (write.events[0], *write.events.last().unwrap())).collect()
    }
    pub(crate) fn stored(&self) -> Vec<u64> {
        self.store.stored(self.session.id()).iter().map(|event| event.seq).collect()
    }
    pub(crate) fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

pub(crate) fn append(session: &Session) {
    let nothing =
        InboxSpliced { target: InboxTarget::NextStep, removed: vec![], inserted: vec![], canceled: false };
    session.append(Body::InboxSpliced(nothing)).unwrap();
}

/// Lets every task that can run do so. The clock stands still.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}
