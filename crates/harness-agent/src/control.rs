//! Claim, park, wake and cancel: decided in one place, under one lock.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harness_llm::{Message, MessageId};
use harness_session::{AbortCause, AgentParked, InboxTarget, Session};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::agent::{AgentStatus, Delivery, InboxPolicy};
use crate::error::AgentError;
use crate::events::{InboxClaimed, InboxDiscarded, InboxInserted};
use crate::inbox::{Claimed, Inbox, InboxLists};
use crate::queue::QueueModes;

struct State {
    inbox: Inbox,
    /// A waking message came that no turn has claimed yet.
    wake: bool,
    /// Follow-ups wait for the next waking message.
    parked: bool,
    activity: Option<(CancellationToken, Option<AbortCause>)>,
    disposed: bool,
}

/// What an agent's driver does next.
#[derive(Debug)]
pub enum Next {
    /// A turn, under this cancellation.
    Run(CancellationToken),
    /// Nothing until [`Control::woken`].
    Wait,
    /// The agent is disposed.
    Exit,
}

/// The one place where an agent's input is delivered, claimed, parked and cancelled. Every implementation of
/// [`crate::AgentFactory`] drives its agents from one of these, so that no wake is lost.
pub struct Control {
    session: Arc<Session>,
    state: Mutex<State>,
    /// What observers may read while the state is locked by the change that they observe.
    lists: Mutex<InboxLists>,
    wake: Notify,
    busy: watch::Sender<bool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    /// The control of a session's agent; what the log says is pending is pending.
    pub fn new(session: Arc<Session>) -> Arc<Self> {
        let inbox = Inbox::of(&session);
        let lists = Mutex::new(inbox.lists().clone());
        // What was pending when the last process ended waits until somebody speaks.
        let state = State { inbox, wake: false, parked: true, activity: None, disposed: false };
        let (busy, _) = watch::channel(false);
        Arc::new(Self { session, state: Mutex::new(state), lists, wake: Notify::new(), busy })
    }

    /// Delivers a message. From an observer of the session the delivery is deferred to a task.
    pub fn send(self: &Arc<Self>, message: Message, delivery: Delivery) -> Result<MessageId, AgentError> {
        let (id, message) = (message.id, Arc::new(message));
        if self.session.notifying() {
            let control = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = control.deliver(message, delivery) {
                    tracing::warn!(%error, "a message sent by an observer was not delivered");
                }
            });
            return Ok(id);
        }
        self.deliver(message, delivery)?;
        Ok(id)
    }
    fn deliver(&self, message: Arc<Message>, delivery: Delivery) -> Result<(), AgentError> {
        let mut state = lock(&self.state);
        if state.disposed {
            return Err(AgentError::Disposed(self.session.id()));
        }
        // A turn that is being aborted takes no more steering: a waking message then opens the next turn.
        let aborting = state.activity.as_ref().is_some_and(|(cancel, _)| cancel.is_cancelled());
        let target = if aborting && delivery.wake { InboxTarget::NextTurn } else { delivery.target };
        state.inbox.push(&self.session, target, Arc::clone(&message))?;
        if delivery.wake {
            state.wake = true;
            state.parked = false;
            self.busy.send_replace(true);
        }
        self.publish(&state);
        drop(state);
        self.session.ctx().emit(&InboxInserted { agent: self.session.id(), message });
        if delivery.wake {
            self.wake.notify_one();
        }
        Ok(())
    }

    /// Takes the input of a step, at the start of a turn with its follow-up, as much as the modes say.
    pub fn claim(&self, target: InboxTarget, turn: u32, modes: QueueModes) -> Result<Claimed, AgentError> {
        let mut state = lock(&self.state);
        let claimed = state.inbox.claim(&self.session, target, modes)?;
        state.wake = false;
        self.publish(&state);
        drop(state);
        for message in &claimed {
            let (agent, message) = (self.session.id(), Arc::clone(message));
            self.session.ctx().emit(&InboxClaimed { agent, message, turn });
        }
        Ok(claimed)
    }
    /// Takes a pending message back.
    pub fn withdraw(&self, id: MessageId) -> Result<(), AgentError> {
        let mut state = lock(&self.state);
        let message = state.inbox.remove(&self.session, id)?;
        self.publish(&state);
        drop(state);
        self.discarded([message]);
        Ok(())
    }
    /// Pending messages of a list, oldest first. Observers may ask.
    pub fn pending(&self, target: InboxTarget) -> Vec<Arc<Message>> {
        lock(&self.lists).list(target).to_vec()
    }

    /// Stops the current turn; the first cause wins. [`AbortCause::Disposed`] also ends the driver.
    pub fn cancel(self: &Arc<Self>, cause: AbortCause, policy: InboxPolicy) {
        if self.session.notifying() {
            let control = Arc::clone(self);
            tokio::spawn(async move { control.cancel(cause, policy) });
            return;
        }
        let mut state = lock(&self.state);
        state.disposed |= cause == AbortCause::Disposed;
        let dropped = match policy {
            InboxPolicy::Keep => {
                state.parked = true;
                Ok(Vec::new())
            }
            InboxPolicy::Clear => state.inbox.clear(&self.session),
        };
        state.wake = false;
        if let Some((cancel, first)) = &mut state.activity {
            first.get_or_insert(cause);
            cancel.cancel();
        }
        self.publish(&state);
        drop(state);
        match dropped {
            Ok(dropped) => self.discarded(dropped),
            Err(error) => tracing::error!(%error, "the inbox could not be cleared"),
        }
        self.wake.notify_one();
    }

    /// What the driver does now. Idle is decided under the same lock as every wake, so no wake is lost.
    pub fn next(&self) -> Next {
        let mut state = lock(&self.state);
        let queued = !state.parked && !state.inbox.lists().list(InboxTarget::NextTurn).is_empty();
        if state.disposed {
            self.busy.send_replace(false);
            return Next::Exit;
        }
        if state.wake || queued {
            let cancel = CancellationToken::new();
            state.wake = false;
            state.activity = Some((cancel.clone(), None));
            return Next::Run(cancel);
        }
        self.busy.send_replace(false);
        Next::Wait
    }
    /// Waits until something may have changed what [`Control::next`] says.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }
    /// A listener stopped the turn: what is pending now waits for the next word, and the log says so.
    pub fn park(&self, reason: &str) -> Result<(), AgentError> {
        let mut state = lock(&self.state);
        (state.wake, state.parked) = (false, true);
        let lists = state.inbox.lists();
        let pending = lists.list(InboxTarget::NextTurn).len() + lists.list(InboxTarget::NextStep).len();
        if pending > 0 {
            let pending = u32::try_from(pending).unwrap_or(u32::MAX);
            let body = harness_session::Body::AgentParked(AgentParked { pending, reason: reason.to_owned() });
            self.session.append(body)?;
        }
        Ok(())
    }
    /// The turn is closed. After a failure the queue waits for the person, and the log says so.
    pub fn retire(&self, failed: Option<&str>) {
        let mut state = lock(&self.state);
        state.activity = None;
        let pending = state.inbox.lists().list(InboxTarget::NextTurn).len();
        if let Some(reason) = failed
            && !state.wake
            && pending > 0
        {
            state.parked = true;
            let pending = u32::try_from(pending).unwrap_or(u32::MAX);
            let body = harness_session::Body::AgentParked(AgentParked { pending, reason: reason.to_owned() });
            if let Err(error) = self.session.append(body) {
                tracing::error!(%error, "the parked queue could not be logged");
            }
        }
    }
    /// Who cancelled the current turn.
    pub fn cause(&self) -> Option<AbortCause> {
        lock(&self.state).activity.as_ref().and_then(|(_, cause)| cause.clone())
    }
    /// Whether a turn runs or is about to.
    pub fn status(&self) -> AgentStatus {
        if *self.busy.borrow() { AgentStatus::Running } else { AgentStatus::Idle }
    }
    /// Waits until nothing runs and nothing is about to.
    pub async fn when_idle(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.busy.subscribe().wait_for(|busy| !busy).await;
    }

    fn publish(&self, state: &State) {
        state.inbox.lists().clone_into(&mut lock(&self.lists));
    }
    fn discarded(&self, messages: impl IntoIterator<Item = Arc<Message>>) {
        for message in messages {
            self.session.ctx().emit(&InboxDiscarded { agent: self.session.id(), message });
        }
    }
}
