//! What the log says of turns, steps, attempts and calls, by number. Positions are indices into the events of one life.
use std::collections::BTreeMap;
use std::sync::Arc;

use harness_llm::{Chunk, FinishReason, Message, ToolCallBlock};
use harness_session::{
    AssistantMessage, Body, Event, RequestHeader, SurfaceOp, ToolCall, ToolResult, TurnEndReason, UnpackError,
};

/// A turn.
pub(crate) struct TurnRecord {
    /// Where it ends, and why.
    pub(crate) end: Option<(usize, TurnEndReason)>,
    pub(crate) steps: BTreeMap<u32, StepRecord>,
}
impl TurnRecord {
    pub(crate) fn reason(&self) -> Option<&TurnEndReason> {
        self.end.as_ref().map(|(_, reason)| reason)
    }
}

/// A step.
#[derive(Default)]
pub(crate) struct StepRecord {
    pub(crate) start: usize,
    pub(crate) end: Option<usize>,
    /// The messages that entered with it, and where the last of them stands.
    pub(crate) messages: Vec<Arc<Message>>,
    pub(crate) entered: usize,
    /// The header that its requests were made with.
    pub(crate) header: Option<Arc<RequestHeader>>,
    pub(crate) attempts: BTreeMap<u32, Attempt>,
    pub(crate) answer: Option<AssistantMessage>,
    pub(crate) calls: Vec<CallRecord>,
    /// Most calls that were under way at once.
    pub(crate) overlap: usize,
}

/// The chunks of one attempt.
#[derive(Default)]
pub(crate) struct Attempt {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) last: usize,
}
impl Attempt {
    pub(crate) fn finish(&self) -> Option<&FinishReason> {
        match self.chunks.last() {
            Some(Chunk::Finish(finish)) => Some(&finish.reason),
            _ => None,
        }
    }
}

/// A call, by its position.
pub(crate) struct CallRecord {
    pub(crate) asked: ToolCallBlock,
    pub(crate) started: Option<ToolCall>,
    pub(crate) result: Option<(usize, ToolResult)>,
    /// Whether another call was under way with it.
    pub(crate) overlapped: bool,
}
impl CallRecord {
    /// The failure's code.
    pub(crate) fn code(&self) -> Option<&str> {
        let (_, result) = self.result.as_ref()?;
        Some(result.error.as_ref()?.code.as_str())
    }
    /// Whether policy and body saw it.
    pub(crate) fn dispatched(&self) -> bool {
        self.started.is_some() && self.result.is_some() && self.code() != Some("ABORTED_BEFORE_DISPATCH")
    }
}

/// Turns by number. `header` is the one in force before the first event.
pub(crate) fn turns(
    events: &[Arc<Event>],
    mut header: Option<Arc<RequestHeader>>,
) -> Result<BTreeMap<u32, TurnRecord>, (usize, UnpackError)> {
    let mut turns: BTreeMap<u32, TurnRecord> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        match &event.body {
            Body::TurnStart(start) => {
                turns.insert(start.turn, TurnRecord { end: None, steps: BTreeMap::new() });
            }
            Body::TurnEnd(end) => {
                if let Some(turn) = turns.get_mut(&end.turn) {
                    turn.end = Some((index, end.reason.clone()));
                }
            }
            Body::StepStart(at) => {
                let record = StepRecord {
                    start: index,
                    entered: index,
                    header: header.clone(),
                    ..StepRecord::default()
                };
                if let Some(turn) = turns.get_mut(&at.turn) {
                    turn.steps.insert(at.step, record);
                }
            }
            Body::RequestHeader(new) => {
                header = Some(Arc::clone(new));
                if let Some(step) = open(&mut turns) {
                    step.header = Some(Arc::clone(new));
                }
            }
            Body::UserMessage(user) if event.surface == Some(SurfaceOp::Append) => {
                if let Some(step) = open(&mut turns) {
                    step.messages.push(Arc::clone(&user.message));
                    step.entered = index;
                }
            }
            body => {
                if let Some(step) = open(&mut turns) {
                    step.note(index, body, event.surface).map_err(|error| (index, error))?;
                }
            }
        }
    }
    Ok(turns)
}

fn open(turns: &mut BTreeMap<u32, TurnRecord>) -> Option<&mut StepRecord> {
    let turn = turns.values_mut().next_back()?;
    let step = turn.steps.values_mut().next_back()?;
    step.end.is_none().then_some(step)
}

impl StepRecord {
    fn note(&mut self, index: usize, body: &Body, surface: Option<SurfaceOp>) -> Result<(), UnpackError> {
        match body {
            Body::StepEnd(_) => self.end = Some(index),
            Body::AssistantChunks(run) => {
                let attempt = self.attempts.entry(run.attempt).or_default();
                attempt.last = index;
                run.visit(|chunk| attempt.chunks.push(chunk))?;
            }
            Body::AssistantMessage(answer) if surface == Some(SurfaceOp::Append) => {
                let calls = answer.message.tool_calls();
                self.calls = calls.map(|asked| CallRecord::new(asked.clone())).collect();
                self.answer = Some(answer.clone());
            }
            Body::ToolCall(call) => self.started(call),
            Body::ToolResult(result) if surface == Some(SurfaceOp::Append) => {
                if let Some(call) = self.call_mut(result.position) {
                    call.result = Some((index, result.clone()));
                }
            }
            _ => {}
        }
        Ok(())
    }
    fn started(&mut self, call: &ToolCall) {
        let under_way: Vec<usize> = self.under_way().collect();
        self.overlap = self.overlap.max(under_way.len() + 1);
        for at in &under_way {
            self.calls[*at].overlapped = true;
        }
        if let Some(record) = self.call_mut(call.position) {
            record.started = Some(call.clone());
            record.overlapped = !under_way.is_empty();
        }
    }
    fn under_way(&self) -> impl Iterator<Item = usize> {
        let calls = self.calls.iter().enumerate();
        calls.filter(|(_, call)| call.started.is_some() && call.result.is_none()).map(|(at, _)| at)
    }
    fn call_mut(&mut self, position: u32) -> Option<&mut CallRecord> {
        self.calls.get_mut(usize::try_from(position).ok()?)
    }
    /// The call at a position.
    pub(crate) fn call(&self, position: u32) -> Option<&CallRecord> {
        self.calls.get(usize::try_from(position).ok()?)
    }
}
impl CallRecord {
    fn new(asked: ToolCallBlock) -> Self {
        Self { asked, started: None, result: None, overlapped: false }
    }
}
