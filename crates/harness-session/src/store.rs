//! The `sessions` service: which sessions are live, and which event types are known.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use harness_kernel::{Ctx, Event as KernelEvent, Notice, Service};

use crate::body::Body;
use crate::clock::{Clock, SystemClock};
use crate::event::Event;
use crate::header::SessionHeader;
use crate::id::SessionId;
use crate::plugin_event::EventTypeInfo;
use crate::session::{AppendError, Session};

/// `session/created`: a session became live.
#[derive(Clone)]
pub struct SessionCreated {
    /// The session.
    pub session: Arc<Session>,
}
impl KernelEvent for SessionCreated {
    const NAME: &'static str = "session/created";
}
impl Notice for SessionCreated {}

/// `session/disposed`: a session is live no more. Paired with every `session/created`.
#[derive(Debug, Clone)]
pub struct SessionDisposed {
    /// The session.
    pub session: SessionId,
}
impl KernelEvent for SessionDisposed {
    const NAME: &'static str = "session/disposed";
}
impl Notice for SessionDisposed {}

/// Why a session could not become live or an event type could not be registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// A session with this identity is live.
    #[error("session {0} is already live in this process")]
    AlreadyLive(SessionId),
    /// The seed does not fit together.
    #[error("session {id} cannot be opened: {source}")]
    Seed {
        /// The session.
        id: SessionId,
        /// What does not fit.
        source: AppendError,
    },
    /// Two plugins claim one event type, or a plugin claims a core type.
    #[error("session event type `{0}` is already registered")]
    DuplicateType(&'static str),
}

/// The service.
pub struct Sessions {
    clock: Arc<dyn Clock>,
    live: Arc<Mutex<BTreeMap<SessionId, Arc<Session>>>>,
    types: Arc<Mutex<BTreeMap<&'static str, EventTypeInfo>>>,
}
impl Service for Sessions {
    const NAME: &'static str = "sessions";
}
impl Default for Sessions {
    fn default() -> Self {
        Self::with_clock(Arc::new(SystemClock))
    }
}

impl Sessions {
    /// A service whose sessions are stamped by this clock.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self { clock, live: Arc::default(), types: Arc::default() }
    }

    /// Makes a session live in `ctx`, with the events that it already has. It ends with the context.
    pub fn create(
        &self,
        ctx: &Ctx,
        header: SessionHeader,
        seed: Vec<Arc<Event>>,
    ) -> Result<Arc<Session>, SessionsError> {
        let id = header.id;
        let session = Session::new(ctx.clone(), Arc::clone(&self.clock), header, seed)
            .map_err(|source| SessionsError::Seed { id, source })?;
        let session = Arc::new(session);
        {
            let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            if live.contains_key(&id) {
                return Err(SessionsError::AlreadyLive(id));
            }
            live.insert(id, Arc::clone(&session));
        }
        let (live, scope) = (Arc::clone(&self.live), ctx.clone());
        ctx.on_dispose(move || async move {
            live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            scope.emit(&SessionDisposed { session: id });
        });
        ctx.emit(&SessionCreated { session: Arc::clone(&session) });
        Ok(session)
    }
    /// A live session.
    pub fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).get(&id).map(Arc::clone)
    }
    /// All live sessions.
    pub fn live(&self) -> Vec<Arc<Session>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }
    /// The clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Registers a plugin's event type for as long as `ctx` lives.
    pub fn register_event_type(&self, ctx: &Ctx, info: EventTypeInfo) -> Result<(), SessionsError> {
        let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        if types.contains_key(info.name) || Body::is_core(info.name) {
            return Err(SessionsError::DuplicateType(info.name));
        }
        types.insert(info.name, info);
        drop(types);
        let types = Arc::clone(&self.types);
        ctx.on_dispose(move || async move {
            types.lock().unwrap_or_else(PoisonError::into_inner).remove(info.name);
        });
        Ok(())
    }
    /// Registered plugin event types.
    pub fn event_types(&self) -> Vec<EventTypeInfo> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}
