//! What a tool body gets.
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use harness_kernel::Ctx;
use harness_llm::Message;
use tokio_util::sync::CancellationToken;

use crate::call::ToolCall;

/// One run of a body.
#[derive(Clone)]
pub struct ToolRun {
    call: ToolCall,
    ctx: Ctx,
    contexts: Arc<Mutex<Vec<Message>>>,
}
impl ToolRun {
    pub(crate) fn new(call: ToolCall, ctx: Ctx) -> Self {
        Self { call, ctx, contexts: Arc::default() }
    }
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }
    /// The scope that the call runs in: for events and services.
    pub fn ctx(&self) -> &Ctx {
        &self.ctx
    }
    /// Cancelled when the body should stop.
    pub fn cancel_token(&self) -> &CancellationToken {
        self.call.cancel_token()
    }
    /// The folder that relative paths start from.
    pub fn cwd(&self) -> &Path {
        self.call.cwd()
    }
    /// Adds a message after all results of the batch; kept when the body fails, dropped when the result is blocked, and
    /// of no effect once the body has returned.
    pub fn defer_context(&self, message: Message) {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
    pub(crate) fn take_contexts(&self) -> Vec<Message> {
        std::mem::take(&mut *self.contexts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
