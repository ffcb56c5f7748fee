//! The agent that the loop drives.
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use harness_agent::{Agent, AgentError, AgentOptions, AgentStatus, Control, Delivery, InboxPolicy};
use harness_kernel::Ctx;
use harness_llm::{Llm, Message, MessageId};
use harness_session::{AbortCause, InboxTarget, Session};
use harness_system_prompt::SystemPrompt;
use harness_tools::Tools;
use tokio::task::JoinHandle;

/// The services that the loop runs on.
#[derive(Clone)]
pub(crate) struct Services {
    pub(crate) llm: Arc<Llm>,
    pub(crate) tools: Arc<Tools>,
    pub(crate) prompt: Arc<SystemPrompt>,
}

pub(crate) struct LoopAgent {
    pub(crate) ctx: Ctx,
    pub(crate) session: Arc<Session>,
    pub(crate) services: Services,
    pub(crate) control: Arc<Control>,
    pub(crate) options: Mutex<AgentOptions>,
    pub(crate) driver: OnceLock<tokio::task::Id>,
    pub(crate) join: Mutex<Option<JoinHandle<()>>>,
}

impl LoopAgent {
    /// The handle that events carry.
    pub(crate) fn shared(self: &Arc<Self>) -> Arc<dyn Agent> {
        Arc::clone(self) as _
    }
    /// Stops the driver and waits for it. Runs before anything else of the agent's scope is undone.
    pub(crate) async fn stop(&self) {
        self.control.cancel(AbortCause::Disposed, InboxPolicy::Keep);
        let join = self.join.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(join) = join
            && let Err(error) = join.await
        {
            tracing::error!(%error, "the agent's driver was lost");
        }
    }
}

#[async_trait]
impl Agent for LoopAgent {
    fn session(&self) -> &Arc<Session> {
        &self.session
    }
    fn ctx(&self) -> &Ctx {
        &self.ctx
    }
    fn options(&self) -> AgentOptions {
        self.options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    fn set_options(&self, options: AgentOptions) {
        *self.options.lock().unwrap_or_else(PoisonError::into_inner) = options;
    }
    fn status(&self) -> AgentStatus {
        self.control.status()
    }
    fn send(&self, message: Message, delivery: Delivery) -> Result<MessageId, AgentError> {
        self.control.send(message, delivery)
    }
    fn withdraw(&self, message: MessageId) -> Result<(), AgentError> {
        self.control.withdraw(message)
    }
    fn pending(&self, target: InboxTarget) -> Vec<Arc<Message>> {
        self.control.pending(target)
    }
    fn cancel(&self, cause: AbortCause, inbox: InboxPolicy) {
        self.control.cancel(cause, inbox);
    }
    async fn when_idle(&self) {
        self.control.when_idle().await;
    }
    async fn dispose(&self) {
        let ctx = self.ctx.clone();
        let teardown = async move {
            if let Err(error) = ctx.dispose().await {
                tracing::error!(%error, "the agent's scope was not taken down cleanly");
            }
        };
        // A listener of the agent's own turn may ask for this; waiting there would wait for itself.
        if tokio::task::try_id().is_some_and(|id| self.driver.get() == Some(&id)) {
            tokio::spawn(teardown);
        } else {
            teardown.await;
        }
    }
}
