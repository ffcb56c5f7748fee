//! An agent without a loop.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use harness_agent::{
    Agent, AgentCreated, AgentError, AgentOptions, AgentStatus, Agents, Control, Delivery, InboxPolicy,
};
use harness_kernel::Ctx;
use harness_llm::{CallConfig, Message, MessageId};
use harness_session::{AbortCause, InboxTarget, Session, SessionHeader, Sessions};

/// An agent that nobody drives.
pub(crate) struct Still {
    ctx: Ctx,
    session: Arc<Session>,
    control: Arc<Control>,
    cwd: PathBuf,
}
impl Still {
    /// An agent with a session of its own, in a scope below `app`.
    pub(crate) fn start(app: &Ctx, cwd: &Path) -> Arc<dyn Agent> {
        let ctx = app.scope("agent");
        let sessions = app.service::<Sessions>().unwrap();
        let session = sessions.create(&ctx, SessionHeader::new(0, None), Vec::new()).unwrap();
        let control = Control::new(Arc::clone(&session));
        let agent: Arc<dyn Agent> = Arc::new(Self { ctx: ctx.clone(), session, control, cwd: cwd.into() });
        app.service::<Agents>().unwrap().insert(Arc::clone(&agent));
        ctx.emit(&AgentCreated { agent: Arc::clone(&agent) });
        agent
    }
}
#[async_trait]
impl Agent for Still {
    fn session(&self) -> &Arc<Session> {
        &self.session
    }
    fn ctx(&self) -> &Ctx {
        &self.ctx
    }
    fn options(&self) -> AgentOptions {
        AgentOptions::new(CallConfig::default(), self.cwd.clone())
    }
    fn set_options(&self, _: AgentOptions) {}
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
        self.ctx.dispose().await.unwrap();
    }
}
