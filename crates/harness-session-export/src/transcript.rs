//! A session in the order in which people read it.
use std::collections::BTreeSet;

use harness_llm::{Failure, FinishReason, Usage};
use harness_session::{SessionId, ToolError, TurnEndReason};

use crate::change::Change;

/// A whole session. Times are milliseconds since the Unix epoch, durations milliseconds.
#[derive(Debug, Clone)]
pub struct Transcript {
    /// What holds for all of it.
    pub facts: Facts,
    /// What happened, in log order.
    pub entries: Vec<Entry>,
}

/// What holds for the whole session.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Identity.
    pub id: SessionId,
    /// When it was made.
    pub created: i64,
    /// When the last event was logged.
    pub last: i64,
    /// Where it worked.
    pub cwd: Option<String>,
    /// The session that it was forked from.
    pub parent: Option<SessionId>,
    /// How many events came from that one.
    pub inherited: u64,
    /// First words of the first prompt.
    pub title: Option<String>,
    /// `provider/model` of every route that was used.
    pub models: BTreeSet<String>,
    /// Turns that started.
    pub turns: u32,
    /// Steps that started.
    pub steps: u32,
    /// Tool calls that were asked for.
    pub calls: u32,
    /// Events of the log.
    pub events: u64,
    /// Tokens of all answers, of calls outside steps, and of tools.
    pub usage: Usage,
    /// US dollars, as far as the log says.
    pub usd: Option<f64>,
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A turn begins.
    TurnOpen(TurnOpen),
    /// A turn ends.
    TurnClose(TurnClose),
    /// A step begins; what follows up to the next one belongs to it.
    Step(StepFacts),
    /// Somebody but the model said something.
    Said(Said),
    /// The model answered.
    Answer(Answer),
    /// A model call failed; nothing of it entered the history.
    FailedAttempt(FailedAttempt),
    /// A tool call, with its result.
    Call(Box<Call>),
    /// Anything else that is worth telling.
    Note(Note),
}

/// The beginning of a turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnOpen {
    /// Its number.
    pub turn: u32,
    /// When.
    pub time: i64,
}

/// The end of a turn.
#[derive(Debug, Clone)]
pub struct TurnClose {
    /// Its number.
    pub turn: u32,
    /// When.
    pub time: i64,
    /// How long the turn took.
    pub took: i64,
    /// Why it ended.
    pub reason: TurnEndReason,
    /// Tokens of the turn.
    pub usage: Usage,
    /// US dollars of the turn, if known.
    pub usd: Option<f64>,
}

/// A step.
#[derive(Debug, Clone, Copy)]
pub struct StepFacts {
    /// The turn.
    pub turn: u32,
    /// Its number within the turn.
    pub step: u32,
    /// When it began.
    pub time: i64,
    /// How long it took; `None` if the log does not say.
    pub took: Option<i64>,
    /// Its tokens, if reported.
    pub usage: Option<Usage>,
}

/// Who speaks to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaker {
    /// The person.
    Person,
    /// A plugin, by name.
    Plugin(String),
    /// Somebody that this build has no name for.
    Other,
}

/// A message to the model.
#[derive(Debug, Clone)]
pub struct Said {
    /// Who.
    pub speaker: Speaker,
    /// When.
    pub time: i64,
    /// What.
    pub pieces: Vec<Piece>,
    /// How many earlier events it takes the place of in what the model sees; 0 for a plain message.
    pub replaces: usize,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(String),
    /// Reasoning.
    Reasoning(String),
    /// Anything else, described.
    Other(String),
}

/// An answer of the model.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Provider route and model.
    pub route: String,
    /// When it was complete.
    pub time: i64,
    /// How long until the first chunk, and from there to the last, if chunks were logged.
    pub timing: Option<(i64, i64)>,
    /// The attempt within its step.
    pub attempt: u32,
    /// What it says, calls aside.
    pub pieces: Vec<Piece>,
    /// Tokens, if reported.
    pub usage: Option<Usage>,
    /// How it ended.
    pub finish: Option<FinishReason>,
    /// Whether it is the beginning of an answer that was cancelled.
    pub interrupted: bool,
}

/// A model call that failed.
#[derive(Debug, Clone)]
pub struct FailedAttempt {
    /// The attempt within its step.
    pub attempt: u32,
    /// When the last of it came.
    pub time: i64,
    /// What had come by then.
    pub pieces: Vec<Piece>,
    /// The facts, if the log has them.
    pub failure: Option<Failure>,
}

/// A tool call.
#[derive(Debug, Clone)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the model sent: JSON text.
    pub sent: String,
    /// What ran, if somebody rewrote it.
    pub ran: Option<String>,
    /// Who.
    pub rewritten_by: Vec<String>,
    /// When it was admitted; `None` for a call that never started.
    pub started: Option<i64>,
    /// When its result was logged.
    pub ended: Option<i64>,
    /// The result.
    pub result: Option<CallResult>,
    /// What it changed in a file.
    pub change: Option<Change>,
}
impl Call {
    /// The JSON text that ran, or would have.
    pub fn arguments(&self) -> &str {
        self.ran.as_deref().unwrap_or(&self.sent)
    }
    /// How long it took, if it ran.
    pub fn took(&self) -> Option<i64> {
        Some(self.ended? - self.started?)
    }
}

/// The result of a tool call.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// What the model was shown.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// Identity of the failure.
    pub error: Option<ToolError>,
    /// Tokens that the tool used by itself.
    pub usage: Option<Usage>,
}

/// How serious a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// For the record.
    Plain,
    /// Worth a look.
    Warning,
    /// Something failed.
    Failure,
}

/// Anything else.
#[derive(Debug, Clone)]
pub struct Note {
    /// When.
    pub time: i64,
    /// One line.
    pub title: String,
    /// The rest; may be empty.
    pub detail: String,
    /// How serious it is.
    pub tone: Tone,
}
