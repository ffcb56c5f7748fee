//! One task per agent: turns as long as there is work, idle otherwise.
use std::sync::Arc;

use harness_agent::{
    Agent, AgentFailed, AgentStatus, AgentStatusChanged, Next, SessionStart, SessionStartSource,
};
use harness_llm::{Failure, FailureCode};

use crate::agent::LoopAgent;
use crate::turn;

pub(crate) async fn drive(agent: Arc<LoopAgent>, source: SessionStartSource) {
    let mut start = Some(source);
    let mut running = false;
    let status = |status| agent.ctx.emit(&AgentStatusChanged { agent: agent.shared(), status });
    loop {
        match agent.control.next() {
            Next::Exit => return,
            Next::Wait => {
                if std::mem::take(&mut running) {
                    status(AgentStatus::Idle);
                }
                agent.control.woken().await;
            }
            Next::Run(cancel) => {
                if !std::mem::replace(&mut running, true) {
                    status(AgentStatus::Running);
                }
                if let Some(source) = start.take() {
                    announce(&agent, source).await;
                }
                let failed = turn::run(&agent, &cancel).await;
                agent.control.retire(failed.as_deref());
            }
        }
    }
}

async fn announce(agent: &Arc<LoopAgent>, source: SessionStartSource) {
    for failure in agent.ctx.parallel(SessionStart { agent: agent.shared(), source }).await {
        let text = format!("agent/session-start: {failure}");
        let failure = Failure::new(FailureCode::other("LISTENER_FAILED"), text);
        agent.ctx.emit(&AgentFailed { agent: agent.id(), turn: None, failure });
    }
}
