//! From the log to the transcript.
use std::collections::HashMap;
use std::sync::Arc;

use harness_llm::{Assembler, Block, Chunk, FinishReason, Message, MessageId, MessageSource, Usage};
use harness_session::{
    AssistantMessage, Body, ChunkRun, Event, InboxSpliced, SessionHeader, Step, SurfaceOp, ToolCall,
    ToolResult, TurnEnd,
};
use harness_token_meter::{CallUsage, TurnUsage};

use crate::known_files::KnownFiles;
use crate::notes;
use crate::transcript::{
    Answer, Call, CallResult, Entry, Facts, FailedAttempt, Note, Piece, Said, Speaker, StepFacts, Tone,
    Transcript, TurnClose, TurnOpen,
};

/// Longest title, in characters.
const TITLE: usize = 80;

impl Transcript {
    /// Reads a log, oldest event first, in one pass.
    pub fn of<'a>(header: &SessionHeader, events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut build = Build::new(header);
        for event in events {
            build.event(event);
        }
        build.finish()
    }
}

/// An attempt whose chunks were logged and which no message has cited yet.
struct Attempt {
    at: Step,
    number: u32,
    assembler: Assembler,
    first: i64,
    last: i64,
    waited: i64,
    finish: Option<FinishReason>,
}

#[derive(Default)]
struct OpenTurn {
    time: i64,
    usage: Usage,
    usd: Option<f64>,
}

struct Build {
    facts: Facts,
    entries: Vec<Entry>,
    turn: OpenTurn,
    /// Where the open step stands among the entries.
    step: Option<usize>,
    attempt: Option<Attempt>,
    /// Where the calls of the open step stand, by position.
    calls: Vec<usize>,
    files: KnownFiles,
    waiting: HashMap<MessageId, (i64, Arc<Message>)>,
}

impl Build {
    fn new(header: &SessionHeader) -> Self {
        let facts = Facts {
            id: header.id,
            created: header.created_at,
            last: header.created_at,
            cwd: header.cwd.clone(),
            parent: header.parent,
            inherited: header.inherited,
            title: None,
            models: std::collections::BTreeSet::new(),
            turns: 0,
            steps: 0,
            calls: 0,
            events: 0,
            usage: Usage::default(),
            usd: None,
        };
        Self {
            facts,
            entries: Vec::new(),
            turn: OpenTurn::default(),
            step: None,
            attempt: None,
            calls: Vec::new(),
            files: KnownFiles::default(),
            waiting: HashMap::new(),
        }
    }

    fn event(&mut self, event: &Event) {
        let time = event.time;
        self.facts.events += 1;
        if self.attempt.as_ref().is_some_and(Attempt::failed)
            && !matches!(event.body, Body::AssistantChunks(_))
        {
            self.drop_attempt();
        }
        match &event.body {
            Body::TurnStart(turn) => {
                self.facts.turns += 1;
                self.turn = OpenTurn { time, ..OpenTurn::default() };
                self.entries.push(Entry::TurnOpen(TurnOpen { turn: turn.turn, time }));
            }
            Body::TurnEnd(end) => self.turn_end(time, end),
            Body::StepStart(at) => {
                self.facts.steps += 1;
                self.step = Some(self.entries.len());
                self.calls.clear();
                let Step { turn, step } = *at;
                self.entries.push(Entry::Step(StepFacts { turn, step, time, took: None, usage: None }));
            }
            Body::StepEnd(_) => {
                self.drop_attempt();
                if let Some(Entry::Step(step)) = self.step.and_then(|at| self.entries.get_mut(at)) {
                    step.took = Some(time - step.time);
                }
                self.step = None;
            }
            Body::UserMessage(user) => self.said(event, &user.message),
            Body::AssistantChunks(run) => self.chunks(run),
            Body::AssistantMessage(message) => self.answer(event, message),
            Body::ToolCall(call) => self.call(time, call),
            Body::ToolResult(result) => self.result(event, result),
            Body::RequestHeader(header) => self.note(notes::header(time, header)),
            Body::RequestContext(context) => {
                self.facts.models.insert(format!("{}/{}", context.provider, context.model));
            }
            Body::InboxSpliced(spliced) => self.spliced(time, spliced),
            Body::AgentParked(parked) => self.note(notes::parked(time, parked)),
            Body::SessionResumed(resumed) => self.note(notes::resumed(time, resumed)),
            Body::Plugin(data) => {
                if let Some(Ok(usage)) = data.read::<TurnUsage>() {
                    self.turn.usd = usage.usd;
                    self.facts.usd = usage.session_usd;
                } else {
                    if let Some(Ok(CallUsage { usage: Some(usage), .. })) = data.read::<CallUsage>() {
                        self.used(usage);
                    }
                    if let Some(note) = notes::plugin(time, data) {
                        self.note(note);
                    }
                }
            }
        }
        self.facts.last = time;
    }

    fn note(&mut self, note: Note) {
        self.entries.push(Entry::Note(note));
    }
    fn used(&mut self, usage: Usage) {
        self.facts.usage += usage;
        self.turn.usage += usage;
        if let Some(Entry::Step(step)) = self.step.and_then(|at| self.entries.get_mut(at)) {
            *step.usage.get_or_insert_default() += usage;
        }
    }

    fn turn_end(&mut self, time: i64, end: &TurnEnd) {
        self.drop_attempt();
        let OpenTurn { time: opened, usage, usd } = std::mem::take(&mut self.turn);
        let (turn, reason) = (end.turn, end.reason.clone());
        self.entries.push(Entry::TurnClose(TurnClose {
            turn,
            time,
            took: time - opened,
            reason,
            usage,
            usd,
        }));
        self.step = None;
    }

    fn said(&mut self, event: &Event, message: &Message) {
        let speaker = match &message.source {
            MessageSource::User => Speaker::Person,
            MessageSource::Plugin { plugin, .. } => Speaker::Plugin(plugin.clone()),
            _ => Speaker::Other,
        };
        if speaker == Speaker::Person && self.facts.title.is_none() {
            self.facts.title = title(&message.text());
        }
        let replaces = replaced(event);
        self.entries.push(Entry::Said(Said { speaker, time: event.time, pieces: pieces(message), replaces }));
    }

    fn chunks(&mut self, run: &ChunkRun) {
        if self.attempt.as_ref().is_some_and(|open| (open.at, open.number) != (run.at, run.attempt)) {
            self.drop_attempt();
        }
        let chunks = match run.unpack() {
            Ok(chunks) => chunks,
            Err(error) => {
                let title = format!("chunks of attempt {} cannot be read: {error}", run.attempt);
                return self.note(Note {
                    time: run.started,
                    title,
                    detail: String::new(),
                    tone: Tone::Failure,
                });
            }
        };
        let since = self.facts.last;
        let attempt = self.attempt.get_or_insert_with(|| Attempt {
            at: run.at,
            number: run.attempt,
            assembler: Assembler::default(),
            first: run.started,
            last: run.started,
            waited: run.started - since,
            finish: None,
        });
        for timed in chunks {
            attempt.assembler.push(&timed.chunk);
            if let Chunk::Finish(finish) = timed.chunk {
                attempt.finish = Some(finish.reason);
            }
            attempt.last = timed.time;
        }
    }

    /// No message came of the open attempt.
    fn drop_attempt(&mut self) {
        let Some(attempt) = self.attempt.take() else { return };
        self.entries.push(Entry::FailedAttempt(FailedAttempt {
            attempt: attempt.number,
            time: attempt.last,
            pieces: attempt.assembler.content().iter().map(described).collect(),
            failure: attempt.finish.as_ref().and_then(FinishReason::failure).cloned(),
        }));
    }

    fn answer(&mut self, event: &Event, answer: &AssistantMessage) {
        let same = |open: &Attempt| (open.at, open.number) == (answer.at, answer.attempt);
        let timing =
            self.attempt.take_if(|open| same(open)).map(|open| (open.waited, open.last - open.first));
        if event.surface != Some(SurfaceOp::Append) {
            return self.note(notes::replacement(event.time, replaced(event), &answer.message));
        }
        let route = match &answer.message.source {
            MessageSource::Model { provider, model, .. } => format!("{provider}/{model}"),
            _ => "unknown".to_owned(),
        };
        self.facts.models.insert(route.clone());
        if let Some(usage) = answer.usage {
            self.used(usage);
        }
        let said = answer.message.content.iter().filter(|block| !matches!(block, Block::ToolCall(_)));
        self.entries.push(Entry::Answer(Answer {
            route,
            time: event.time,
            timing,
            attempt: answer.attempt,
            pieces: said.map(piece).collect(),
            usage: answer.usage,
            finish: answer.finish.clone(),
            interrupted: answer.interrupted,
        }));
        self.calls.clear();
        for call in answer.message.tool_calls() {
            self.facts.calls += 1;
            self.calls.push(self.entries.len());
            self.entries.push(Entry::Call(Box::new(Call {
                id: call.id.clone(),
                name: call.name.clone(),
                sent: call.arguments.clone(),
                ran: None,
                rewritten_by: Vec::new(),
                started: None,
                ended: None,
                result: None,
                change: None,
            })));
        }
    }

    fn at(&mut self, position: u32) -> Option<&mut Call> {
        let at = *self.calls.get(usize::try_from(position).ok()?)?;
        match self.entries.get_mut(at) {
            Some(Entry::Call(call)) => Some(call),
            _ => None,
        }
    }
    fn call(&mut self, time: i64, started: &ToolCall) {
        let Some(call) = self.at(started.position) else { return };
        call.started = Some(time);
        call.rewritten_by.clone_from(&started.rewritten_by);
        call.ran = (call.sent != started.arguments).then(|| started.arguments.clone());
    }
    fn result(&mut self, event: &Event, result: &ToolResult) {
        if event.surface != Some(SurfaceOp::Append) {
            return self.note(notes::replacement(event.time, replaced(event), &result.message));
        }
        if let Some(usage) = result.usage {
            self.used(usage);
        }
        let (text, is_error) = shown(&result.message);
        let Some(call) = self.at(result.position) else { return };
        call.ended = Some(event.time);
        let (name, arguments) = (call.name.clone(), call.arguments().to_owned());
        let (error, usage) = (result.error.clone(), result.usage);
        call.result = Some(CallResult { text: text.clone(), is_error, error, usage });
        if !is_error {
            let change = self.files.note(&name, &arguments, result, &text);
            if let Some(call) = self.at(result.position) {
                call.change = change;
            }
        }
    }

    fn spliced(&mut self, time: i64, spliced: &InboxSpliced) {
        for message in &spliced.inserted {
            self.waiting.insert(message.id, (time, Arc::clone(message)));
        }
        for id in &spliced.removed {
            let taken = self.waiting.remove(id);
            if let Some((_, message)) = taken.filter(|_| spliced.canceled) {
                self.note(notes::unread(time, "A message was withdrawn before the model saw it", &message));
            }
        }
    }

    fn finish(mut self) -> Transcript {
        self.drop_attempt();
        let mut waiting: Vec<_> = std::mem::take(&mut self.waiting).into_values().collect();
        waiting.sort_by_key(|(time, message)| (*time, message.id));
        for (time, message) in waiting {
            self.note(notes::unread(time, "A message waits; the model has not seen it", &message));
        }
        Transcript { facts: self.facts, entries: self.entries }
    }
}

impl Attempt {
    fn failed(&self) -> bool {
        self.finish.as_ref().is_some_and(|finish| finish.failure().is_some())
    }
}

fn replaced(event: &Event) -> usize {
    match event.surface {
        Some(SurfaceOp::Replace(..)) => event.sources.as_ref().map_or(1, Vec::len),
        _ => 0,
    }
}

fn title(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(TITLE).collect();
    if line.chars().nth(TITLE).is_some() {
        title.push('…');
    }
    Some(title)
}

fn pieces(message: &Message) -> Vec<Piece> {
    message.content.iter().map(piece).collect()
}
fn piece(block: &Block) -> Piece {
    match block {
        Block::Text { text } => Piece::Text(text.clone()),
        Block::Reasoning { text, .. } => Piece::Reasoning(text.clone()),
        Block::Image(image) => Piece::Other(format!("picture {} ({})", image.content_id, image.media_type)),
        other => Piece::Other(serde_json::to_string(other).unwrap_or_else(|error| error.to_string())),
    }
}
/// Like [`piece`], with calls that were never made in words.
fn described(block: &Block) -> Piece {
    match block {
        Block::ToolCall(call) => Piece::Other(format!("call of {}: {}", call.name, call.arguments)),
        other => piece(other),
    }
}

fn shown(message: &Message) -> (String, bool) {
    let (mut text, mut is_error) = (String::new(), false);
    for block in &message.content {
        let Block::ToolResult(result) = block else { continue };
        is_error |= result.is_error;
        for block in &result.content {
            match piece(block) {
                Piece::Text(part) => text.push_str(&part),
                Piece::Reasoning(part) | Piece::Other(part) => text.push_str(&format!("[{part}]\n")),
            }
        }
    }
    (text, is_error)
}
