//! The part of a log that one process wrote.
use std::collections::BTreeMap;
use std::sync::Arc;

use harness_agent::{QueueMode, QueueModes};
use harness_llm::{MessageId, MessageSource};
use harness_session::{
    Body, Event, InboxTarget, RequestHeader, SessionHeader, SurfaceOp, TurnEndReason, UnpackError,
};
use harness_session_persistence::{NOT_STARTED, OUTCOME_UNKNOWN};

use crate::record::{StepRecord, TurnRecord, turns};

/// What one process wrote, from its first event to its last.
pub(crate) struct Life {
    pub(crate) events: Vec<Arc<Event>>,
    /// What the next load appended to close its open turn.
    pub(crate) closers: Vec<Arc<Event>>,
    /// Whether the events before it belong to the session that this one was forked from.
    pub(crate) forked: bool,
    pub(crate) turns: BTreeMap<u32, TurnRecord>,
}

/// Cuts a log where one process ended and another went on.
pub(crate) fn lives(header: &SessionHeader, events: &[Arc<Event>]) -> Result<Vec<Life>, UnpackError> {
    let (mut lives, mut rest, mut before) = (Vec::new(), Vec::new(), None);
    let mut forked = false;
    let mut flush = |events: &mut Vec<Arc<Event>>, forked: bool| {
        if !events.is_empty() {
            let life = Life::new(std::mem::take(events), forked, &mut before)?;
            lives.push(life);
        }
        Ok(())
    };
    for event in events {
        let fork = header.inherited > 0 && event.seq == header.inherited;
        if fork || matches!(event.body, Body::SessionResumed(_)) {
            flush(&mut rest, forked)?;
            forked |= fork;
        }
        rest.push(Arc::clone(event));
        if matches!(&event.body, Body::TurnEnd(end) if end.reason == TurnEndReason::Interrupted) {
            flush(&mut rest, forked)?;
        }
    }
    flush(&mut rest, forked)?;
    Ok(lives)
}

impl Life {
    fn new(
        mut events: Vec<Arc<Event>>,
        forked: bool,
        before: &mut Option<Arc<RequestHeader>>,
    ) -> Result<Self, UnpackError> {
        let closers = events.split_off(events.len() - closing(&events));
        let turns = turns(&events, before.clone()).map_err(|(_, error)| error)?;
        let headers = events.iter().rev().find_map(|event| match &event.body {
            Body::RequestHeader(header) => Some(Arc::clone(header)),
            _ => None,
        });
        *before = headers.or_else(|| before.take());
        Ok(Self { events, closers, forked, turns })
    }
    /// Whether the process ended in the middle of a turn.
    pub(crate) fn crashed(&self) -> bool {
        !self.closers.is_empty()
    }
    pub(crate) fn turn(&self, turn: u32) -> Option<&TurnRecord> {
        self.turns.get(&turn)
    }
    pub(crate) fn step(&self, turn: u32, step: u32) -> Option<&StepRecord> {
        self.turn(turn)?.steps.get(&step)
    }
    /// The first event from a position on that the loop makes by itself; the length if there is none.
    pub(crate) fn next_made(&self, from: usize) -> usize {
        let made = |event: &Arc<Event>| made_by_the_loop(event);
        self.events.iter().skip(from).position(made).map_or(self.events.len(), |at| from + at)
    }
    /// Whether a turn starts at or after a position.
    pub(crate) fn turn_starts_after(&self, at: usize) -> bool {
        self.events.iter().skip(at).any(|event| matches!(event.body, Body::TurnStart(_)))
    }
    /// Where a pending message is taken by a turn.
    pub(crate) fn claimed(&self, id: MessageId) -> Option<usize> {
        self.events.iter().position(|event| {
            matches!(&event.body, Body::InboxSpliced(change) if !change.canceled && change.removed.contains(&id))
        })
    }
    /// The turn that is open at a position.
    pub(crate) fn turn_at(&self, at: usize) -> Option<u32> {
        let bound = |event: &std::sync::Arc<Event>| match &event.body {
            Body::TurnStart(start) => Some(Some(start.turn)),
            Body::TurnEnd(_) => Some(None),
            _ => None,
        };
        self.events[..at].iter().rev().find_map(bound).flatten()
    }
    /// How much of the inbox a boundary took: the log shows the choice where it made a difference.
    pub(crate) fn queues(&self) -> QueueModes {
        let mut modes = QueueModes { steering: QueueMode::All, followups: QueueMode::OneAtATime };
        let mut steering: Vec<MessageId> = Vec::new();
        for event in &self.events {
            let Body::InboxSpliced(change) = &event.body else { continue };
            match change.target {
                InboxTarget::NextTurn if !change.canceled && change.removed.len() > 1 => {
                    modes.followups = QueueMode::All;
                }
                InboxTarget::NextTurn => {}
                InboxTarget::NextStep => {
                    let spoken =
                        change.inserted.iter().filter(|message| message.source == MessageSource::User);
                    steering.retain(|id| !change.removed.contains(id));
                    if !change.removed.is_empty() && !change.canceled && !steering.is_empty() {
                        modes.steering = QueueMode::OneAtATime;
                    }
                    steering.extend(spoken.map(|message| message.id));
                }
            }
        }
        modes
    }
}

/// How many events at the end were appended by a load.
fn closing(events: &[Arc<Event>]) -> usize {
    let mut from_behind = events.iter().rev();
    let interrupted = |event: &Arc<Event>| matches!(&event.body, Body::TurnEnd(end) if end.reason == TurnEndReason::Interrupted);
    if !from_behind.next().is_some_and(interrupted) {
        return 0;
    }
    let answered = |event: &Arc<Event>| match &event.body {
        Body::ToolResult(result) => {
            result.error.as_ref().is_some_and(|error| [NOT_STARTED, OUTCOME_UNKNOWN].contains(&&*error.code))
        }
        _ => false,
    };
    match from_behind.next() {
        Some(event) if matches!(event.body, Body::StepEnd(_)) => {
            2 + from_behind.take_while(|event| answered(event)).count()
        }
        _ => 1,
    }
}

/// Whether the loop makes an event by itself: from what it is given, it must come out again.
pub(crate) fn made_by_the_loop(event: &Event) -> bool {
    match &event.body {
        Body::UserMessage(_) | Body::AssistantMessage(_) | Body::ToolResult(_) => {
            event.surface == Some(SurfaceOp::Append)
        }
        Body::InboxSpliced(change) => change.inserted.is_empty() && !change.canceled,
        Body::SessionResumed(_) | Body::Plugin(_) => false,
        _ => true,
    }
}
