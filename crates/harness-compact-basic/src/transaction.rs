//! One bracket in the log: begin, the replacement, end.
use std::collections::HashSet;
use std::sync::Arc;

use harness_agent::{Agent, AgentNotice};
use harness_compact::{
    AfterCompact, BeforeCompact, BeforeCompactDecision, CompactBegin, CompactEnd, CompactError,
    CompactOutcome, Compacted, SOURCE, Trigger,
};
use harness_llm::{ContextForm, Message};
use harness_session::{Body, Draft, PluginEvent, RequestHeader, Seq, Session, UserMessage};
use harness_token_meter::{measure, message_tokens};
use tokio_util::sync::CancellationToken;

use crate::cut::Node;
use crate::engine::Engine;
use crate::frame::framed;
use crate::summary::ask;

pub(crate) struct Transaction<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) agent: &'a Arc<dyn Agent>,
    pub(crate) header: &'a RequestHeader,
    pub(crate) trigger: Trigger,
    /// What the next request weighs.
    pub(crate) before: u64,
    pub(crate) surface: Vec<Node>,
    /// Everything before this position is replaced; not 0, and not everything.
    pub(crate) cut: usize,
    /// What that weighs.
    pub(crate) replaced: u64,
    pub(crate) window: u64,
    pub(crate) summary_max: u64,
    pub(crate) cancel: &'a CancellationToken,
}

struct Replaced {
    by: Seq,
    after: u64,
    supplied: bool,
    summary: Arc<str>,
}

impl Transaction<'_> {
    /// Runs it to its end, which is logged whatever happens. Returns what the next request weighs then.
    pub(crate) async fn run(&self) -> Result<u64, CompactError> {
        let session = self.agent.session();
        let compaction = next_number(session);
        let (range, _) = self.surface.split_at(self.cut);
        let (Some(first), Some(last)) = (range.first(), range.last()) else {
            return Err(CompactError::Nothing);
        };
        session.append_plugin(&CompactBegin {
            compaction,
            trigger: self.trigger,
            first: first.seq,
            last: last.seq,
            events: u32::try_from(range.len()).unwrap_or(u32::MAX),
            tokens: self.replaced,
            before: self.before,
        })?;
        let result = self.replace(range, first.seq, last.seq).await;
        let outcome = match &result {
            Ok(Replaced { by, after, supplied, .. }) => {
                CompactOutcome::Done { replacement: *by, after: *after, supplied: *supplied }
            }
            Err(error) => {
                CompactOutcome::Failed { code: error.code().to_owned(), message: error.to_string() }
            }
        };
        session.append_plugin(&CompactEnd { compaction, outcome })?;
        let Replaced { after, summary, .. } = result?;
        let compacted = Compacted { before: self.before, after };
        let agent = Arc::clone(self.agent);
        let told = AfterCompact { agent, trigger: self.trigger, summary, compacted };
        for failure in self.agent.ctx().parallel(told).await {
            let text = format!("after compaction a listener failed: {failure}");
            self.agent.ctx().emit(&AgentNotice { agent: self.agent.id(), text });
        }
        Ok(after)
    }

    async fn replace(&self, range: &[Node], first: Seq, last: Seq) -> Result<Replaced, CompactError> {
        let session = self.agent.session();
        let generation = session.generation();
        let messages: Vec<Arc<Message>> = range.iter().filter_map(|node| node.message.clone()).collect();
        let before = BeforeCompact {
            agent: Arc::clone(self.agent),
            trigger: self.trigger,
            messages: messages.clone(),
            tokens: self.replaced,
            cancel: self.cancel.clone(),
        };
        let decided = self.agent.ctx().serial(before);
        let decided = self.cancel.run_until_cancelled(decided).await.ok_or(CompactError::Cancelled)?;
        let (summary, supplied) = match decided.map_err(|panic| CompactError::Listener(panic.to_string()))? {
            Some(BeforeCompactDecision::Reject { reason }) => return Err(CompactError::Rejected(reason)),
            Some(BeforeCompactDecision::Summary(summary)) => (summary, true),
            None => {
                let llm = &self.engine.llm;
                let max = self.summary_max;
                (ask(llm, self.agent, self.header, messages, max, self.cancel).await?, false)
            }
        };
        let stays: HashSet<Seq> = self.surface[self.cut..].iter().map(|node| node.seq).collect();
        let text = framed(session, &summary, &stays, self.window);
        let message = Message::context(SOURCE, ContextForm::Recall, text);
        let said: Arc<str> = summary.into();
        let summary = message_tokens(&message);
        if summary >= self.replaced {
            return Err(CompactError::NotSmaller { replaced: self.replaced, summary });
        }
        if session.generation() != generation {
            return Err(CompactError::Changed);
        }
        let body = Body::UserMessage(UserMessage { message: Arc::new(message) });
        let sources = range.iter().map(|node| node.seq).collect();
        let event = session.append(Draft::new(body).replacing(first, last).citing(sources))?;
        Ok(Replaced { by: event.seq, after: measure(session).tokens, supplied, summary: said })
    }
}

fn next_number(session: &Session) -> u32 {
    let begun = session.view().iter().filter(|event| event.body.type_name() == CompactBegin::TYPE).count();
    u32::try_from(begun).unwrap_or(u32::MAX).saturating_add(1)
}
