//! The always-on checks of the log: turns, steps and tool calls pair up.
use harness_llm::Block;

use crate::body::{Body, Step};
use crate::event::{Draft, Event, EventClass, SurfaceOp};

/// A broken relation between an event and those before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// Turns do not nest and are numbered 1, 2, 3 …
    #[error("turn {got} cannot start: expected turn {expected}{}", if *.open { " after the open one ends" } else { "" })]
    TurnStart {
        /// The number that came.
        got: u32,
        /// The number that fits.
        expected: u32,
        /// Whether a turn is open.
        open: bool,
    },
    /// Steps do not nest and are numbered from 1 in each turn.
    #[error("step {}.{} cannot start here", .0.turn, .0.step)]
    StepStart(Step),
    /// The event names a turn or step that is not the open one.
    #[error("{event} is outside the turn and step that it names")]
    Outside {
        /// The event's type.
        event: String,
    },
    /// A turn cannot end with an open step.
    #[error("turn {0} cannot end: its step is open")]
    StepOpen(u32),
    /// A step cannot go on or end while calls are unanswered.
    #[error("tool call `{0}` has no result yet")]
    Unanswered(String),
    /// The call was not requested, was already started, or already has its result.
    #[error("tool call `{call_id}` at position {position}: {problem}")]
    Call {
        /// The call.
        call_id: String,
        /// Its position.
        position: u32,
        /// What is wrong.
        problem: &'static str,
    },
    /// Two calls of one message share an id.
    #[error("two tool calls of one message share the id `{0}`")]
    DuplicateCallId(String),
    /// The message of a result must hold exactly one result block, for the call it names.
    #[error("a tool result must hold exactly one result block and name the same call as its source")]
    MalformedResult,
    /// Plugins cannot write to the surface.
    #[error("event type `{0}` declares the surface class, which is reserved for the core types")]
    PluginSurface(String),
    /// Plugins cannot take a core type's name.
    #[error("event type `{0}` is a core type; a plugin must name its own")]
    PluginName(String),
}

/// A call that the model asked for in the open step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Whether `tool/call` was logged: the body may have run.
    pub started: bool,
    /// Whether it has its result.
    pub answered: bool,
}

/// The turn that is open at the end of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenTurn {
    /// Its number.
    pub turn: u32,
    /// The open step, if any.
    pub step: Option<u32>,
    /// How many steps it has had.
    pub steps: u32,
    /// The calls of the open step, by position.
    pub calls: Vec<OpenCall>,
}

/// Folds a log and refuses what does not fit.
#[derive(Debug, Clone, Default)]
pub struct Grammar {
    turns: u32,
    open: Option<OpenTurn>,
}

impl Grammar {
    /// Folds a whole log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, GrammarError> {
        let mut grammar = Self::default();
        for event in events {
            grammar.accept(event)?;
        }
        Ok(grammar)
    }
    /// Takes the next event of a log that is read; on an error the state is as before.
    ///
    /// Calls of one message that share an id are told apart by their positions: what an older build, or another
    /// program, has stored must load. A live session refuses them ([`GrammarError::DuplicateCallId`]).
    pub fn accept(&mut self, event: &Event) -> Result<(), GrammarError> {
        self.fold(&event.body, event.surface)
    }
    /// The turn that is open.
    pub fn open_turn(&self) -> Option<&OpenTurn> {
        self.open.as_ref()
    }
    /// How many turns have started.
    pub fn turns(&self) -> u32 {
        self.turns
    }
    /// Whether a draft would fit.
    pub fn fits(&self, draft: &Draft) -> Result<(), GrammarError> {
        self.clone().apply(&draft.body, draft.surface)
    }

    /// Takes a new event or says what it breaks; on an error the state is as before.
    pub(crate) fn apply(&mut self, body: &Body, surface: Option<SurfaceOp>) -> Result<(), GrammarError> {
        if let Body::AssistantMessage(assistant) = body
            && let Some(id) = shared_id(&assistant.message.content)
        {
            // Where it stands is looked at first: that is the worse fault.
            self.clone().fold(body, surface)?;
            return Err(GrammarError::DuplicateCallId(id.to_owned()));
        }
        self.fold(body, surface)
    }

    fn fold(&mut self, body: &Body, surface: Option<SurfaceOp>) -> Result<(), GrammarError> {
        let replaces = matches!(surface, Some(SurfaceOp::Replace(..)));
        match body {
            Body::TurnStart(start) => {
                let expected = self.turns + 1;
                if self.open.is_some() || start.turn != expected {
                    return Err(GrammarError::TurnStart {
                        got: start.turn,
                        expected,
                        open: self.open.is_some(),
                    });
                }
                self.turns = expected;
                self.open = Some(OpenTurn { turn: expected, ..OpenTurn::default() });
            }
            Body::TurnEnd(end) => {
                let open = self.turn(end.turn, body)?;
                if open.step.is_some() {
                    return Err(GrammarError::StepOpen(end.turn));
                }
                self.open = None;
            }
            Body::StepStart(start) => {
                let open = self.turn(start.turn, body)?;
                if open.step.is_some() || start.step != open.steps + 1 {
                    return Err(GrammarError::StepStart(*start));
                }
                open.steps += 1;
                open.step = Some(open.steps);
                open.calls.clear();
            }
            Body::StepEnd(end) => {
                let open = self.step(*end, body)?;
                answered(open)?;
                open.step = None;
                open.calls.clear();
            }
            Body::UserMessage(_) if replaces => {}
            Body::UserMessage(_) => {
                self.open.as_ref().and_then(|open| open.step).ok_or_else(|| outside(body))?;
            }
            Body::AssistantChunks(run) => {
                self.step(run.at, body)?;
            }
            Body::AssistantMessage(assistant) => {
                let open = self.step(assistant.at, body)?;
                answered(open)?;
                open.calls = calls(&assistant.message.content);
            }
            Body::ToolCall(call) => {
                let open = self.step(call.at, body)?;
                let found = find(open, call.position, &call.call_id)?;
                match (found.started, found.answered) {
                    (_, true) => {
                        return Err(problem(&call.call_id, call.position, "it already has its result"));
                    }
                    (true, _) => return Err(problem(&call.call_id, call.position, "it was already started")),
                    (false, false) => found.started = true,
                }
            }
            Body::ToolResult(result) => {
                let call_id = result_call(&result.message.content).ok_or(GrammarError::MalformedResult)?;
                if replaces {
                    return Ok(());
                }
                let open = self.step(result.at, body)?;
                let found = find(open, result.position, call_id)?;
                if found.answered {
                    return Err(problem(call_id, result.position, "it already has its result"));
                }
                if !found.started && result.error.is_none() {
                    return Err(problem(call_id, result.position, "it succeeds without having been started"));
                }
                found.answered = true;
            }
            Body::RequestHeader(_) | Body::RequestContext(_) => {
                self.open.as_ref().and_then(|open| open.step).ok_or_else(|| outside(body))?;
            }
            Body::InboxSpliced(_) | Body::AgentParked(_) | Body::SessionResumed(_) => {}
            Body::Plugin(data) => match data.class() {
                _ if Body::is_core(data.name()) => {
                    return Err(GrammarError::PluginName(data.name().to_owned()));
                }
                EventClass::Standalone => {}
                EventClass::Surface => return Err(GrammarError::PluginSurface(data.name().to_owned())),
                EventClass::Execution => {
                    self.open.as_ref().ok_or_else(|| outside(body))?;
                }
            },
        }
        Ok(())
    }

    fn turn(&mut self, turn: u32, body: &Body) -> Result<&mut OpenTurn, GrammarError> {
        self.open.as_mut().filter(|open| open.turn == turn).ok_or_else(|| outside(body))
    }
    fn step(&mut self, at: Step, body: &Body) -> Result<&mut OpenTurn, GrammarError> {
        self.turn(at.turn, body)
            .and_then(|open| if open.step == Some(at.step) { Ok(open) } else { Err(outside(body)) })
    }
}

fn outside(body: &Body) -> GrammarError {
    GrammarError::Outside { event: body.type_name().to_owned() }
}
fn problem(call_id: &str, position: u32, problem: &'static str) -> GrammarError {
    GrammarError::Call { call_id: call_id.to_owned(), position, problem }
}
fn answered(open: &OpenTurn) -> Result<(), GrammarError> {
    match open.calls.iter().find(|call| !call.answered) {
        Some(call) => Err(GrammarError::Unanswered(call.id.clone())),
        None => Ok(()),
    }
}
fn find<'a>(open: &'a mut OpenTurn, position: u32, call_id: &str) -> Result<&'a mut OpenCall, GrammarError> {
    usize::try_from(position)
        .ok()
        .and_then(|at| open.calls.get_mut(at))
        .filter(|call| call.id == call_id)
        .ok_or_else(|| problem(call_id, position, "the model did not ask for it in this step"))
}
fn calls(content: &[Block]) -> Vec<OpenCall> {
    asked(content)
        .map(|(id, name)| OpenCall { id: id.into(), name: name.into(), started: false, answered: false })
        .collect()
}
fn asked(content: &[Block]) -> impl Iterator<Item = (&str, &str)> {
    content.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some((call.id.as_str(), call.name.as_str())),
        _ => None,
    })
}
/// An id that two calls of a message have.
fn shared_id(content: &[Block]) -> Option<&str> {
    let ids = || asked(content).map(|(id, _)| id);
    ids().enumerate().find(|(at, id)| ids().take(*at).any(|other| other == *id)).map(|(_, id)| id)
}
fn result_call(content: &[Block]) -> Option<&str> {
    match content {
        [Block::ToolResult(result)] => Some(&result.call_id),
        _ => None,
    }
}
