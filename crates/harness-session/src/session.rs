//! A live session: append, observe, derive.
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use harness_kernel::{Ctx, Event as KernelEvent, ListenerFailure, Notice, Parallel};
use harness_llm::{Chunk, Message};
use tokio::sync::broadcast;

use crate::body::{RequestHeader, Step};
use crate::clock::Clock;
use crate::derivation::{Derivation, SurfaceError};
use crate::event::{Draft, Event, Seq};
use crate::grammar::{Grammar, GrammarError, OpenTurn};
use crate::header::SessionHeader;
use crate::id::SessionId;
use crate::live::{CAPACITY, LiveChunk, LiveReceiver};
use crate::log::{Log, LogView};
use crate::plugin_event::PluginEvent;

/// `session/event`: an event was committed. Observers run in commit order; none can change or delay the result,
/// and none may append to the same session: send from a task of your own.
#[derive(Debug, Clone)]
pub struct SessionEvent {
    /// The session.
    pub session: SessionId,
    /// The event.
    pub event: Arc<Event>,
}
impl KernelEvent for SessionEvent {
    const NAME: &'static str = "session/event";
}
impl Notice for SessionEvent {}

/// `session/flush`: everything committed so far must become durable. The barrier before a model request, before
/// a tool body and before idle; any failure fails the caller closed.
#[derive(Debug, Clone)]
pub struct SessionFlush {
    /// The session.
    pub session: SessionId,
}
impl KernelEvent for SessionFlush {
    const NAME: &'static str = "session/flush";
}
impl Parallel for SessionFlush {
    type Error = FlushError;
}

/// Why the log could not be made durable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session could not be saved: {0}")]
pub struct FlushError(pub String);

/// Why an event was refused. A refused event leaves no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// It does not fit what stands before it.
    #[error("event refused: {0}")]
    Grammar(#[from] GrammarError),
    /// Its surface operation is not legal.
    #[error("event refused: {0}")]
    Surface(#[from] SurfaceError),
    /// It cites an event that is not before it, or one twice.
    #[error("event refused: source {0} is not an earlier event, or is cited twice")]
    Source(Seq),
    /// An observer of this session tried to append to it.
    #[error("event refused: an observer of a session must not append to it; send from a task instead")]
    Reentrant,
    /// A plugin's data is not JSON.
    #[error("event refused: its data is not JSON: {0}")]
    Data(#[from] serde_json::Error),
}
impl AppendError {
    /// Stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Grammar(_) => "SESSION_GRAMMAR",
            Self::Surface(_) => "SESSION_SURFACE",
            Self::Source(_) => "SESSION_SOURCE",
            Self::Reentrant => "SESSION_REENTRANT",
            Self::Data(_) => "SESSION_DATA",
        }
    }
}

thread_local! {
    /// Sessions whose observers run on this thread right now.
    static NOTIFYING: RefCell<HashSet<SessionId>> = RefCell::default();
}

#[derive(Default)]
struct State {
    next: Seq,
    grammar: Grammar,
    derivation: Derivation,
    last_time: i64,
}

/// A live session. The log is the only truth; everything else here is derived from it.
pub struct Session {
    header: SessionHeader,
    ctx: Ctx,
    clock: Arc<dyn Clock>,
    log: Arc<Log>,
    /// Held from a commit to the end of its notifications: both happen in one order.
    order: Mutex<()>,
    /// Held for the commit only, so that an observer can read.
    state: Mutex<State>,
    live: broadcast::Sender<LiveChunk>,
    first_live: Seq,
}

impl Session {
    /// A session over an existing log. `ctx` is where its events are heard.
    pub(crate) fn new(
        ctx: Ctx,
        clock: Arc<dyn Clock>,
        header: SessionHeader,
        seed: Vec<Arc<Event>>,
    ) -> Result<Self, AppendError> {
        let mut state = State::default();
        let log = Arc::new(Log::default());
        for event in seed {
            if event.seq != state.next {
                return Err(AppendError::Source(event.seq));
            }
            let span = state.derivation.plan(&event.body, event.surface, event.sources.as_deref())?;
            state.grammar.accept(&event)?;
            state.derivation.commit(&event, span);
            state.next += 1;
            state.last_time = event.time;
            log.place(event);
        }
        let first_live = state.next;
        let (live, _) = broadcast::channel(CAPACITY);
        let (order, state) = (Mutex::default(), Mutex::new(state));
        Ok(Self { header, ctx, clock, log, order, state, live, first_live })
    }

    /// Identity.
    pub fn id(&self) -> SessionId {
        self.header.id
    }
    /// What is known apart from the events.
    pub fn header(&self) -> &SessionHeader {
        &self.header
    }
    /// The context in which the session's events are heard.
    pub fn ctx(&self) -> &Ctx {
        &self.ctx
    }
    /// How many leading events came with the seed; what follows was committed by this process.
    pub fn first_live(&self) -> Seq {
        self.first_live
    }
    /// The clock that stamps the events.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Commits an event: checks it, stamps it, places it and notifies observers, all in one order.
    /// Never waits for storage.
    pub fn append(&self, draft: impl Into<Draft>) -> Result<Arc<Event>, AppendError> {
        let id = self.id();
        if NOTIFYING.with_borrow(|set| set.contains(&id)) {
            return Err(AppendError::Reentrant);
        }
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let event = self.commit(draft.into())?;
        NOTIFYING.with_borrow_mut(|set| set.insert(id));
        self.ctx.emit(&SessionEvent { session: id, event: Arc::clone(&event) });
        NOTIFYING.with_borrow_mut(|set| set.remove(&id));
        Ok(event)
    }
    fn commit(&self, Draft { body, surface, sources }: Draft) -> Result<Arc<Event>, AppendError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        check_sources(state.next, sources.as_deref())?;
        let span = state.derivation.plan(&body, surface, sources.as_deref())?;
        state.grammar.apply(&body, surface)?;
        let time = self.clock.now_ms();
        let event = Arc::new(Event { seq: state.next, time, body, surface, sources });
        state.derivation.commit(&event, span);
        state.next += 1;
        state.last_time = time;
        self.log.place(Arc::clone(&event));
        Ok(event)
    }
    /// Whether an observer of this session runs on this thread right now, so that an append would be refused.
    pub fn notifying(&self) -> bool {
        NOTIFYING.with_borrow(|set| set.contains(&self.id()))
    }
    /// Commits a plugin's own event.
    pub fn append_plugin<E: PluginEvent>(&self, event: &E) -> Result<Arc<Event>, AppendError> {
        self.append(Draft::plugin(event)?)
    }

    /// The log up to now, in constant time.
    pub fn view(&self) -> LogView {
        let len = self.state.lock().unwrap_or_else(PoisonError::into_inner).next;
        LogView::new(Arc::clone(&self.log), len)
    }
    /// The history as the model sees it.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.with(|state| state.derivation.messages().map(Arc::clone).collect())
    }
    /// The request header in force.
    pub fn request_header(&self) -> Option<Arc<RequestHeader>> {
        self.with(|state| state.derivation.header().map(Arc::clone))
    }
    /// How many replacements the surface has had.
    pub fn generation(&self) -> u64 {
        self.with(|state| state.derivation.generation())
    }
    /// A copy of the surface and what derives from it.
    pub fn derivation(&self) -> Derivation {
        self.with(|state| state.derivation.clone())
    }
    /// The open turn, if any.
    pub fn open_turn(&self) -> Option<OpenTurn> {
        self.with(|state| state.grammar.open_turn().cloned())
    }
    /// How many turns have started.
    pub fn turns(&self) -> u32 {
        self.with(|state| state.grammar.turns())
    }
    /// Runs `f` on the derivation without copying it. Must not append.
    pub fn with_derivation<T>(&self, f: impl FnOnce(&Derivation) -> T) -> T {
        self.with(|state| f(&state.derivation))
    }
    fn with<T>(&self, f: impl FnOnce(&State) -> T) -> T {
        f(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until everything committed so far is durable. Without a persistence plugin there is nothing to wait
    /// for. The first failure is returned; all listeners are awaited.
    pub async fn flush(&self) -> Result<(), FlushError> {
        let failures = self.ctx.parallel(SessionFlush { session: self.id() }).await;
        match failures.into_iter().next() {
            None => Ok(()),
            Some(ListenerFailure::Failed(error)) => Err(error),
            Some(ListenerFailure::Panicked(panic)) => Err(FlushError(panic.to_string())),
        }
    }

    /// Publishes a chunk to live observers. Never waits; costs nothing without observers.
    pub fn publish(&self, at: Step, attempt: u32, chunk: &Chunk) {
        if self.live.receiver_count() > 0 {
            // An error means that the last observer has just gone.
            let _ = self.live.send(LiveChunk { at, attempt, chunk: Arc::new(chunk.clone()) });
        }
    }
    /// Subscribes to live chunks from now on.
    pub fn subscribe(&self) -> LiveReceiver {
        LiveReceiver::new(self.live.subscribe())
    }
}

fn check_sources(next: Seq, sources: Option<&[Seq]>) -> Result<(), AppendError> {
    let mut seen = HashSet::new();
    match sources.unwrap_or_default().iter().find(|seq| **seq >= next || !seen.insert(**seq)) {
        Some(bad) => Err(AppendError::Source(*bad)),
        None => Ok(()),
    }
}
