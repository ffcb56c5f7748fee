//! The inbox: two ordered lists, every change in the log before it is in memory.
use std::sync::Arc;

use harness_llm::{Message, MessageId, MessageSource};
use harness_session::{Body, Event, InboxSpliced, InboxTarget, Seq, Session};

use crate::error::AgentError;
use crate::queue::{QueueMode, QueueModes};

/// The pending lists, as the log tells them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InboxLists {
    next_turn: Vec<Arc<Message>>,
    next_step: Vec<Arc<Message>>,
}
impl InboxLists {
    /// Folds a log. Changes before `inherited` belong to the parent of a fork and do not count.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>, inherited: Seq) -> Self {
        let mut lists = Self::default();
        for event in events {
            if let Body::InboxSpliced(change) = &event.body
                && event.seq >= inherited
            {
                lists.apply(change);
            }
        }
        lists
    }
    /// A list, oldest first.
    pub fn list(&self, target: InboxTarget) -> &[Arc<Message>] {
        match target {
            InboxTarget::NextTurn => &self.next_turn,
            InboxTarget::NextStep => &self.next_step,
        }
    }
    fn list_mut(&mut self, target: InboxTarget) -> &mut Vec<Arc<Message>> {
        match target {
            InboxTarget::NextTurn => &mut self.next_turn,
            InboxTarget::NextStep => &mut self.next_step,
        }
    }
    fn apply(&mut self, change: &InboxSpliced) {
        let list = self.list_mut(change.target);
        list.retain(|message| !change.removed.contains(&message.id));
        list.extend(change.inserted.iter().map(Arc::clone));
    }
    fn holds(&self, id: MessageId) -> Option<InboxTarget> {
        let within = |list: &[Arc<Message>]| list.iter().any(|message| message.id == id);
        if within(&self.next_turn) {
            Some(InboxTarget::NextTurn)
        } else {
            within(&self.next_step).then_some(InboxTarget::NextStep)
        }
    }
}

/// Messages that a turn took, in the order in which they enter: context and steering first, then the follow-up.
pub type Claimed = Vec<Arc<Message>>;

/// The durable inbox of one agent. Not locked: its owner decides claim, park and wake under one lock of its own.
#[derive(Debug)]
pub struct Inbox {
    lists: InboxLists,
}

impl Inbox {
    /// The inbox that a session's log tells.
    pub fn of(session: &Session) -> Self {
        let view = session.view();
        let events: Vec<_> = view.iter().collect();
        Self { lists: InboxLists::of(events.iter().map(AsRef::as_ref), session.header().inherited) }
    }
    /// The lists.
    pub fn lists(&self) -> &InboxLists {
        &self.lists
    }
    /// Adds a message at the end of a list.
    pub fn push(
        &mut self,
        session: &Session,
        target: InboxTarget,
        message: Arc<Message>,
    ) -> Result<(), AgentError> {
        if self.lists.holds(message.id).is_some() {
            return Err(AgentError::AlreadyPending(message.id));
        }
        self.commit(session, splice(target, Vec::new(), vec![message], false))
    }
    /// Takes what the modes allow for the next step and, at the start of a turn, of the follow-ups.
    pub fn claim(
        &mut self,
        session: &Session,
        target: InboxTarget,
        modes: QueueModes,
    ) -> Result<Claimed, AgentError> {
        let mut spoken = 0;
        let steering = |message: &Message| {
            spoken += usize::from(message.source == MessageSource::User);
            modes.steering == QueueMode::All || message.source != MessageSource::User || spoken == 1
        };
        let mut claimed = self.take(session, InboxTarget::NextStep, steering, false)?;
        if target == InboxTarget::NextTurn {
            let mut queued = 0;
            let followup = |_: &Message| {
                queued += 1;
                modes.followups == QueueMode::All || queued == 1
            };
            claimed.extend(self.take(session, InboxTarget::NextTurn, followup, false)?);
        }
        Ok(claimed)
    }
    /// Drops everything, steering first. Returns what was dropped.
    pub fn clear(&mut self, session: &Session) -> Result<Claimed, AgentError> {
        let mut dropped = self.take(session, InboxTarget::NextStep, |_| true, true)?;
        dropped.extend(self.take(session, InboxTarget::NextTurn, |_| true, true)?);
        Ok(dropped)
    }
    /// Drops one message.
    pub fn remove(&mut self, session: &Session, id: MessageId) -> Result<Arc<Message>, AgentError> {
        let target = self.lists.holds(id).ok_or(AgentError::NotPending(id))?;
        let found = self.lists.list(target).iter().find(|message| message.id == id).map(Arc::clone);
        self.commit(session, splice(target, vec![id], Vec::new(), true))?;
        found.ok_or(AgentError::NotPending(id))
    }

    fn take(
        &mut self,
        session: &Session,
        target: InboxTarget,
        mut wanted: impl FnMut(&Message) -> bool,
        canceled: bool,
    ) -> Result<Claimed, AgentError> {
        let taken: Claimed =
            self.lists.list(target).iter().filter(|message| wanted(message)).map(Arc::clone).collect();
        if !taken.is_empty() {
            let removed = taken.iter().map(|message| message.id).collect();
            self.commit(session, splice(target, removed, Vec::new(), canceled))?;
        }
        Ok(taken)
    }
    /// The log first: a refused change leaves the lists as they were.
    fn commit(&mut self, session: &Session, change: InboxSpliced) -> Result<(), AgentError> {
        let event = session.append(Body::InboxSpliced(change))?;
        if let Body::InboxSpliced(change) = &event.body {
            self.lists.apply(change);
        }
        Ok(())
    }
}

fn splice(
    target: InboxTarget,
    removed: Vec<MessageId>,
    inserted: Vec<Arc<Message>>,
    canceled: bool,
) -> InboxSpliced {
    InboxSpliced { target, removed, inserted, canceled }
}
