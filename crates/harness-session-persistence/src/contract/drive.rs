//! Makes realistic logs: a live session is driven, and its events are taken.
use std::sync::Arc;

use harness_kernel::App;
use harness_llm::{BlockKind, Chunk, FinishReason, Message, ToolResultBlock};
use harness_session::{
    Body, ChunkRecorder, Draft, Event, Form, InboxSpliced, InboxTarget, ManualClock, Session, SessionHeader,
    SessionPlugin, Sessions, Step, ToolCall, ToolError, ToolResult, Turn, TurnEnd, TurnEndReason,
    UserMessage, encode_event,
};

/// The events that `script` appends to a new session.
pub async fn drive(header: &SessionHeader, script: impl FnOnce(&Session)) -> Vec<Arc<Event>> {
    continued(header, &[], script).await
}

/// The events that `script` appends to a session that has events already.
pub async fn continued(
    header: &SessionHeader,
    before: &[Arc<Event>],
    script: impl FnOnce(&Session),
) -> Vec<Arc<Event>> {
    let clock = Arc::new(ManualClock::at(header.created_at + 1000));
    let app = App::default().with(SessionPlugin::with_clock(clock)).start().await.unwrap();
    let sessions = app.ctx().service::<Sessions>().unwrap();
    let session = sessions.create(app.ctx(), header.clone(), before.to_vec()).expect("the seed fits");
    script(&session);
    let events = session.view().iter_from(session.first_live()).collect();
    app.shutdown().await.unwrap();
    events
}

/// Events as text, for comparison.
pub fn encoded(events: &[Arc<Event>]) -> Vec<String> {
    events.iter().map(|event| encode_event(event, Form::Full).unwrap()).collect()
}

/// One step of a driven session. Each method appends its events at once.
#[derive(Clone, Copy)]
pub struct Script<'a> {
    session: &'a Session,
    at: Step,
}

impl<'a> Script<'a> {
    /// Opens the next turn and its first step with what a person says.
    pub fn open(session: &'a Session, text: &str) -> Self {
        let turn = session.turns() + 1;
        let message = Arc::new(Message::user(text));
        let (id, target) = (message.id, InboxTarget::NextTurn);
        let arrived =
            InboxSpliced { target, removed: vec![], inserted: vec![Arc::clone(&message)], canceled: false };
        let claimed = InboxSpliced { target, removed: vec![id], inserted: vec![], canceled: false };
        let step = Self { session, at: Step { turn, step: 1 } };
        step.append(Body::InboxSpliced(arrived));
        step.append(Body::TurnStart(Turn { turn }));
        step.append(Body::InboxSpliced(claimed));
        step.append(Body::StepStart(step.at));
        step.append(Body::UserMessage(UserMessage { message }));
        step
    }
    /// The model streams words and stops in the middle.
    pub fn stream(self, words: &[&str]) -> Self {
        let mut recorder = ChunkRecorder::new(self.at, 1);
        recorder.push(self.now(), &Chunk::BlockStart { index: 0, kind: BlockKind::Text });
        for word in words {
            recorder.push(self.now(), &Chunk::TextDelta { index: 0, text: (*word).to_owned() });
        }
        self.append(recorder.take_run().unwrap());
        self
    }
    /// The model says something and asks for tools: pairs of id and arguments.
    pub fn answer(self, text: &str, calls: &[(&str, &str)]) -> Self {
        let mut recorder = ChunkRecorder::new(self.at, 1);
        let mut push = |chunk| recorder.push(self.now(), &chunk);
        push(Chunk::BlockStart { index: 0, kind: BlockKind::Text });
        for word in text.split_inclusive(' ') {
            push(Chunk::TextDelta { index: 0, text: word.to_owned() });
        }
        push(Chunk::BlockEnd { index: 0, block: None });
        for (index, (id, arguments)) in (1..).zip(calls) {
            let (id, name) = ((*id).to_owned(), "probe".to_owned());
            push(Chunk::BlockStart { index, kind: BlockKind::ToolCall { id, name } });
            push(Chunk::ToolCallDelta { index, arguments: (*arguments).to_owned() });
            push(Chunk::BlockEnd { index, block: None });
        }
        push(Chunk::Finish(FinishReason::Stop.into()));
        let seq = self.append(recorder.take_run().unwrap());
        recorder.logged(seq);
        self.append(recorder.message("scripted", "model-1"));
        self
    }
    /// A tool starts.
    pub fn start(self, position: u32, id: &str) -> Self {
        self.append(Body::ToolCall(ToolCall {
            at: self.at,
            position,
            call_id: id.to_owned(),
            name: "probe".to_owned(),
            arguments: "{}".to_owned(),
            rewritten_by: vec![],
        }));
        self
    }
    /// A tool answers.
    pub fn result(self, position: u32, id: &str, text: &str) -> Self {
        let block = ToolResultBlock {
            call_id: id.to_owned(),
            content: vec![harness_llm::Block::text(text)],
            is_error: text.is_empty(),
        };
        let error = text.is_empty().then(|| ToolError { code: "PROBE".into(), message: "nothing".into() });
        let message = Arc::new(Message::tool_result(block));
        let meta = Some(serde_json::json!({ "exit": -1, "share": 0.1 }));
        self.append(Body::ToolResult(ToolResult {
            at: self.at,
            position,
            message,
            error,
            meta,
            usage: None,
        }));
        self
    }
    /// Closes the step and the turn.
    pub fn end(self) {
        self.append(Body::StepEnd(self.at));
        let reason = TurnEndReason::Completed;
        self.append(Body::TurnEnd(TurnEnd { turn: self.at.turn, reason }));
    }
    /// A whole turn without tools.
    pub fn turn(session: &'a Session, text: &str, answer: &str) {
        Self::open(session, text).answer(answer, &[]).end();
    }

    fn now(&self) -> i64 {
        self.session.clock().now_ms()
    }
    fn append(&self, draft: impl Into<Draft>) -> u64 {
        self.session.append(draft).expect("the script fits the grammar").seq
    }
}
