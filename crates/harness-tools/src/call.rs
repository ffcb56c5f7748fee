//! A call's identity: sealed before any policy sees it.
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use harness_session::{SessionId, Step};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// What asks for a call: the loop, or a tool that calls another.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// The call's id, unique in its session.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The JSON text of the arguments, as the model produced it.
    pub arguments: String,
    /// The session on whose behalf; without one, nothing can be asked about.
    pub session: Option<SessionId>,
    /// Where in the session.
    pub at: Step,
    /// Position among the calls of its message, counted from 0.
    pub position: u32,
    /// The folder that relative paths start from.
    pub cwd: PathBuf,
    /// The call that makes this one, if a tool does.
    pub parent: Option<CallToken>,
    /// Cancelled when the caller gives up.
    pub cancel: CancellationToken,
}

/// Proof of identity of one sealed call, unforgeable in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallToken(u64);
impl CallToken {
    pub(crate) fn mint() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) request: CallRequest,
    pub(crate) value: Value,
    pub(crate) rewritten_by: Vec<String>,
    pub(crate) token: CallToken,
}

/// A sealed call. Everything about it is fixed; only its cancellation can be narrowed.
#[derive(Debug, Clone)]
pub struct ToolCall {
    identity: Arc<Identity>,
    cancel: CancellationToken,
}

/// A call with a cancellation of its own, below the caller's.
#[derive(Debug)]
pub struct Narrowed {
    /// The call to delegate.
    pub call: ToolCall,
    /// Cancels it. The caller's cancellation still reaches it.
    pub cancel: CancellationToken,
}

impl ToolCall {
    pub(crate) fn seal(
        request: CallRequest,
        value: Value,
        rewritten_by: Vec<String>,
        token: CallToken,
    ) -> Self {
        let cancel = request.cancel.clone();
        Self { identity: Arc::new(Identity { request, value, rewritten_by, token }), cancel }
    }
    /// The call's id.
    pub fn id(&self) -> &str {
        &self.identity.request.id
    }
    /// The tool's name; it need not exist.
    pub fn name(&self) -> &str {
        &self.identity.request.name
    }
    /// The arguments that run: always an object; null for a call that cannot run.
    pub fn arguments(&self) -> &Value {
        &self.identity.value
    }
    /// The JSON text of the arguments that run; for a call that cannot run, what the model sent.
    pub fn arguments_text(&self) -> &str {
        &self.identity.request.arguments
    }
    /// Who rewrote the arguments.
    pub fn rewritten_by(&self) -> &[String] {
        &self.identity.rewritten_by
    }
    /// The session on whose behalf.
    pub fn session(&self) -> Option<SessionId> {
        self.identity.request.session
    }
    /// Where in the session.
    pub fn at(&self) -> Step {
        self.identity.request.at
    }
    /// Position among the calls of its message, counted from 0.
    pub fn position(&self) -> u32 {
        self.identity.request.position
    }
    /// The folder that relative paths start from.
    pub fn cwd(&self) -> &Path {
        &self.identity.request.cwd
    }
    /// Proof of identity.
    pub fn token(&self) -> CallToken {
        self.identity.token
    }
    /// The call that made this one.
    pub fn parent(&self) -> Option<CallToken> {
        self.identity.request.parent
    }
    /// Cancelled when the body should stop.
    pub fn cancel_token(&self) -> &CancellationToken {
        &self.cancel
    }
    /// The same call with a narrower cancellation: for deadlines around execution.
    #[must_use]
    pub fn narrow(&self) -> Narrowed {
        let cancel = self.cancel.child_token();
        Narrowed { call: Self { identity: Arc::clone(&self.identity), cancel: cancel.clone() }, cancel }
    }
    /// Whether the caller itself gave up, whatever a wrapper did.
    pub(crate) fn caller_cancelled(&self) -> bool {
        self.identity.request.cancel.is_cancelled()
    }
}
