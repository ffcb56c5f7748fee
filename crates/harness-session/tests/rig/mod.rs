//! A live session, and short ways to fill it.
#![allow(dead_code, reason = "every test file uses a part")]
use std::sync::Arc;

use harness_kernel::{App, Ctx, Running};
use harness_llm::{Block, BlockKind, Chunk, FinishReason, Message, ToolResultBlock};
use harness_session::{
    Body, ChunkRecorder, Draft, Event, ManualClock, Session, SessionHeader, SessionPlugin, Sessions, Step,
    ToolCall, ToolError, ToolResult, Turn, TurnEnd, TurnEndReason, UserMessage,
};

pub(crate) struct Rig {
    pub(crate) app: Running,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) session: Arc<Session>,
}
impl Rig {
    pub(crate) async fn new() -> Self {
        let clock = Arc::new(ManualClock::at(1_700_000_000_000));
        let app = App::default().with(SessionPlugin::with_clock(clock.clone())).start().await.unwrap();
        let sessions = app.ctx().service::<Sessions>().unwrap();
        let session = sessions.create(app.ctx(), SessionHeader::new(0, None), vec![]).unwrap();
        Self { app, clock, sessions, session }
    }
    pub(crate) fn ctx(&self) -> &Ctx {
        self.app.ctx()
    }
    pub(crate) fn events(&self) -> Vec<Arc<Event>> {
        self.session.view().iter().collect()
    }
    pub(crate) fn append(&self, draft: impl Into<Draft>) -> u64 {
        self.session.append(draft).unwrap().seq
    }
}

pub(crate) fn block_on<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

pub(crate) const AT: Step = Step { turn: 1, step: 1 };

pub(crate) fn turn_start(turn: u32) -> Draft {
    Body::TurnStart(Turn { turn }).into()
}
pub(crate) fn turn_end(turn: u32) -> Draft {
    Body::TurnEnd(TurnEnd { turn, reason: TurnEndReason::Completed }).into()
}
pub(crate) fn step_start(turn: u32, step: u32) -> Draft {
    Body::StepStart(Step { turn, step }).into()
}
pub(crate) fn step_end(turn: u32, step: u32) -> Draft {
    Body::StepEnd(Step { turn, step }).into()
}
pub(crate) fn user(text: &str) -> Draft {
    Body::UserMessage(UserMessage { message: Arc::new(Message::user(text)) }).into()
}
/// A model's message that asks for these calls, without any chunk in the log.
pub(crate) fn assistant(at: Step, calls: &[&str]) -> Draft {
    let mut recorder = ChunkRecorder::new(at, 1);
    for chunk in answer("fine", calls) {
        recorder.push(0, &chunk);
    }
    recorder.message("p", "m")
}
pub(crate) fn answer(text: &str, calls: &[&str]) -> Vec<Chunk> {
    let mut chunks = vec![
        Chunk::BlockStart { index: 0, kind: BlockKind::Text },
        Chunk::TextDelta { index: 0, text: text.into() },
        Chunk::BlockEnd { index: 0, block: None },
    ];
    for (index, id) in (1..).zip(calls) {
        let kind = BlockKind::ToolCall { id: (*id).into(), name: "probe".into() };
        chunks.push(Chunk::BlockStart { index, kind });
        chunks.push(Chunk::ToolCallDelta { index, arguments: "{}".into() });
        chunks.push(Chunk::BlockEnd { index, block: None });
    }
    chunks.push(Chunk::Finish(FinishReason::Stop.into()));
    chunks
}
pub(crate) fn call(at: Step, position: u32, id: &str) -> Draft {
    Body::ToolCall(ToolCall {
        at,
        position,
        call_id: id.into(),
        name: "probe".into(),
        arguments: "{}".into(),
        rewritten_by: vec![],
    })
    .into()
}
pub(crate) fn result(at: Step, position: u32, id: &str, failed: bool) -> Draft {
    let content = vec![Block::text("out")];
    let message =
        Arc::new(Message::tool_result(ToolResultBlock { call_id: id.into(), content, is_error: failed }));
    let error = failed.then(|| ToolError { code: "X".into(), message: "no".into() });
    Body::ToolResult(ToolResult { at, position, message, error, meta: None, usage: None }).into()
}
