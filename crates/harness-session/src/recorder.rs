//! Records one attempt's chunks: packs them for the log and assembles the message they add up to.
use std::sync::Arc;

use harness_llm::{Assembler, Block, Chunk, Finish, Message, MessageSource, Role, Usage};

use crate::body::{AssistantMessage, Body, Step};
use crate::event::{Draft, Seq};
use crate::packed::ChunkRun;

/// Most chunks and most bytes of text in one packed run, so that one event stays small.
const RUN_CHUNKS: usize = 4096;
const RUN_BYTES: usize = 256 * 1024;

/// Packs and assembles the chunks of one attempt.
///
/// Push every chunk, take [`ChunkRecorder::take_run`] at least every 200 ms and at every checkpoint and append
/// it, tell the recorder the sequence number it got, and end with one of the two message makers.
#[derive(Debug)]
pub struct ChunkRecorder {
    at: Step,
    attempt: u32,
    assembler: Assembler,
    run: Option<ChunkRun>,
    chunks: usize,
    bytes: usize,
    last: i64,
    finish: Option<Finish>,
    /// Runs given out; each must come back through [`ChunkRecorder::logged`].
    taken: usize,
    logged: Vec<Seq>,
}

impl ChunkRecorder {
    /// A recorder for one attempt of a step.
    pub fn new(at: Step, attempt: u32) -> Self {
        let assembler = Assembler::default();
        let (finish, logged) = (None, Vec::new());
        Self { at, attempt, assembler, run: None, chunks: 0, bytes: 0, last: 0, finish, taken: 0, logged }
    }

    /// Takes a chunk that arrived at `now` (milliseconds since the Unix epoch). Returns whether the run is full
    /// and should be taken at once.
    pub fn push(&mut self, now: i64, chunk: &Chunk) -> bool {
        self.assembler.push(chunk);
        let (at, attempt) = (self.at, self.attempt);
        let gap = if self.run.is_some() { now.saturating_sub(self.last) } else { 0 };
        self.run.get_or_insert_with(|| ChunkRun::new(at, attempt, now)).push(gap, chunk);
        self.last = now;
        self.chunks += 1;
        self.bytes += match chunk {
            Chunk::TextDelta { text, .. } | Chunk::ReasoningDelta { text, .. } => text.len(),
            Chunk::ToolCallDelta { arguments, .. } => arguments.len(),
            Chunk::Finish(finish) => {
                self.finish = Some(finish.clone());
                0
            }
            _ => 0,
        };
        self.chunks >= RUN_CHUNKS || self.bytes >= RUN_BYTES
    }

    /// The packed run since the last call, if any chunk came.
    pub fn take_run(&mut self) -> Option<Draft> {
        self.chunks = 0;
        self.bytes = 0;
        let run = self.run.take()?;
        self.taken += 1;
        Some(Body::AssistantChunks(run).into())
    }
    /// Notes the sequence number of an appended run, for the message to cite.
    pub fn logged(&mut self, seq: Seq) {
        self.logged.push(seq);
    }
    /// Usage so far.
    pub fn usage(&self) -> Option<Usage> {
        self.assembler.usage()
    }
    /// The finish, once it came.
    pub fn finish(&self) -> Option<&Finish> {
        self.finish.as_ref()
    }

    /// The message of a finished attempt.
    pub fn message(self, provider: &str, model: &str) -> Draft {
        let content = self.assembler.content();
        self.draft(provider, model, content, false)
    }
    /// The visible prefix of a cancelled attempt, or `None` if nothing was visible yet.
    pub fn interrupted(self, provider: &str, model: &str) -> Option<Draft> {
        let content = self.assembler.interrupted();
        (!content.is_empty()).then(|| self.draft(provider, model, content, true))
    }
    fn draft(self, provider: &str, model: &str, content: Vec<Block>, interrupted: bool) -> Draft {
        let usage = self.assembler.usage();
        let (reason, replay_state) = match self.finish {
            Some(finish) => (Some(finish.reason), finish.replay_state),
            None => (None, None),
        };
        let source = MessageSource::Model { provider: provider.into(), model: model.into(), replay_state };
        let body = Body::AssistantMessage(AssistantMessage {
            at: self.at,
            attempt: self.attempt,
            message: Arc::new(Message::new(Role::Assistant, content, source)),
            usage,
            finish: reason,
            interrupted,
            // True only when there are chunks and the log has them all: else the content must be stored with
            // the message.
            from_chunks: self.run.is_none() && self.taken > 0 && self.taken == self.logged.len(),
        });
        Draft::new(body).citing(self.logged)
    }
}
