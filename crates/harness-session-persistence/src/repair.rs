//! Closing a turn whose process ended in the middle: a pure function of the log.
//!
//! Nothing is ever taken away. A model answer that was cut in mid-stream stays in the log as the chunks that
//! arrived; no assistant message is made up from them, so the next request does not show it to the model.
use std::sync::Arc;

use harness_llm::{Block, Message, MessageId, MessageSource, Role, ToolResultBlock};
use harness_session::{
    Body, Event, OpenCall, OpenTurn, Seq, SessionId, Step, SurfaceOp, ToolError, ToolResult, TurnEnd,
    TurnEndReason,
};
use uuid::Uuid;

/// Code of the result that answers a call which never started.
pub const NOT_STARTED: &str = "TOOL_NOT_STARTED";
/// Code of the result that answers a call which had started.
pub const OUTCOME_UNKNOWN: &str = "TOOL_OUTCOME_UNKNOWN";

const NOT_STARTED_TEXT: &str = "Interrupted: the session's process ended before this call was started. It had no effect. Call the tool again if its \
     result is still needed.";
const OUTCOME_UNKNOWN_TEXT: &str = "Interrupted: the session's process ended while this call was running. Whether it took effect, in full or in part, is \
     not known. Look at the current state, or ask the user, before repeating anything that has side effects.";

/// The events that close the open turn of a log that nobody writes any more; none if no turn is open.
///
/// `open` is what [`harness_session::Grammar`] says of `events`. Every unanswered call gets an error result, by its
/// position in the model's answer; then the step and the turn are closed as interrupted. Times repeat the last
/// event's and message ids derive from session and sequence number, so that the result is the same each time.
pub fn close_open_turn(
    session: SessionId,
    events: &[Arc<Event>],
    open: Option<&OpenTurn>,
) -> Vec<Arc<Event>> {
    let (Some(open), Some(last)) = (open, events.last()) else { return Vec::new() };
    let mut closing = Closing { session, next: last.seq + 1, time: last.time, events: Vec::new() };
    if let Some(step) = open.step {
        let at = Step { turn: open.turn, step };
        for (position, call) in (0u32..).zip(&open.calls) {
            if !call.answered {
                closing.answer(at, position, call, asked_by(events, position, call.started));
            }
        }
        closing.push(Body::StepEnd(at), None, None);
    }
    let end = TurnEnd { turn: open.turn, reason: TurnEndReason::Interrupted };
    closing.push(Body::TurnEnd(end), None, None);
    closing.events
}

/// The event that a call's result answers: its start, or else the model's message.
fn asked_by(events: &[Arc<Event>], position: u32, started: bool) -> Option<Seq> {
    let cause = events.iter().rev().find(|event| match &event.body {
        Body::ToolCall(call) => started && call.position == position,
        Body::AssistantMessage(_) => true,
        _ => false,
    });
    cause.map(|event| event.seq)
}

struct Closing {
    session: SessionId,
    next: Seq,
    time: i64,
    events: Vec<Arc<Event>>,
}
impl Closing {
    fn push(&mut self, body: Body, surface: Option<SurfaceOp>, sources: Option<Vec<Seq>>) {
        self.events.push(Arc::new(Event { seq: self.next, time: self.time, body, surface, sources }));
        self.next += 1;
    }
    fn answer(&mut self, at: Step, position: u32, call: &OpenCall, asked_by: Option<Seq>) {
        let (code, text) = if call.started {
            (OUTCOME_UNKNOWN, OUTCOME_UNKNOWN_TEXT)
        } else {
            (NOT_STARTED, NOT_STARTED_TEXT)
        };
        let call_id = call.id.clone();
        let source = MessageSource::Tool { call_id: call_id.clone() };
        let block = ToolResultBlock { call_id, content: vec![Block::text(text)], is_error: true };
        let content = vec![Block::ToolResult(block)];
        let message =
            Arc::new(Message { id: message_id(self.session, self.next), role: Role::User, content, source });
        let error = Some(ToolError { code: code.to_owned(), message: text.to_owned() });
        let body = Body::ToolResult(ToolResult { at, position, message, error, meta: None, usage: None });
        self.push(body, Some(SurfaceOp::Append), asked_by.map(|seq| vec![seq]));
    }
}

/// The session's own identity with the sequence number mixed in (a version 8 UUID, RFC 9562 section 5.8).
fn message_id(session: SessionId, seq: Seq) -> MessageId {
    let mut bytes = session.to_string().parse::<Uuid>().unwrap_or_default().into_bytes();
    for (byte, mix) in bytes[8..].iter_mut().zip(seq.to_be_bytes()) {
        *byte ^= mix;
    }
    let id = uuid::Builder::from_custom_bytes(bytes).into_uuid();
    id.to_string().parse().unwrap_or_else(|_| MessageId::generate())
}
