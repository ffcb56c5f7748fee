//! Watches a stream: holds text back while it can still become a call.
use harness_llm::{BlockKind, Chunk, Finish, FinishReason, MessageId, ToolSpec};

use crate::read::{ReadCall, may_become_call, read_call};

/// Most bytes that are held back: a call is not longer.
const MOST: usize = 256 * 1024;

/// A call that was found, with the id that it got and the text that it stood in.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) id: String,
    pub(crate) call: ReadCall,
    pub(crate) text: String,
}

/// The state of one stream.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    /// Chunks that wait.
    held: Vec<Chunk>,
    /// The text block that may become a call, and its text.
    candidate: Option<(u32, String)>,
    /// It is decided: everything passes.
    decided: bool,
}

impl Detector {
    /// Takes a chunk; what may pass is put into `out`.
    pub(crate) fn push(&mut self, chunk: Chunk, tools: &[ToolSpec], out: &mut Vec<Chunk>) -> Option<Found> {
        if self.decided {
            out.push(chunk);
            return None;
        }
        match &chunk {
            Chunk::BlockStart { index, kind: BlockKind::Text } if self.candidate.is_none() => {
                self.candidate = Some((*index, String::new()));
            }
            // Whatever else comes beside the text: it is no answer of one call only.
            Chunk::BlockStart { kind: BlockKind::Reasoning, .. } if self.candidate.is_none() => {}
            Chunk::BlockStart { .. } => return self.decide(chunk, out),
            Chunk::TextDelta { index, text } => match &mut self.candidate {
                Some((of, so_far)) if of == index => {
                    so_far.push_str(text);
                    if !may_become_call(so_far) || so_far.len() > MOST {
                        return self.decide(chunk, out);
                    }
                }
                _ => return self.decide(chunk, out),
            },
            Chunk::BlockEnd { block: Some(_), index }
                if self.candidate.as_ref().is_some_and(|(of, _)| of == index) =>
            {
                return self.decide(chunk, out);
            }
            Chunk::Finish(finish) => {
                let found = self.found(finish, tools);
                let Some((index, found)) = found else { return self.decide(chunk, out) };
                let (id, name) = (found.id.clone(), found.call.name.clone());
                out.push(Chunk::BlockStart { index, kind: BlockKind::ToolCall { id, name } });
                out.push(Chunk::ToolCallDelta { index, arguments: found.call.arguments.clone() });
                out.push(Chunk::BlockEnd { index, block: None });
                let others = self.held.drain(..).filter(|chunk| matches!(chunk, Chunk::Usage(_)));
                out.extend(others);
                let replay_state = finish.replay_state.clone();
                out.push(Chunk::Finish(Finish { reason: FinishReason::ToolCalls, replay_state }));
                self.decided = true;
                return Some(found);
            }
            _ => {}
        }
        if self.candidate.is_some() {
            self.held.push(chunk);
        } else {
            out.push(chunk);
        }
        None
    }
    /// What was held back, at the end of a stream without a finish.
    pub(crate) fn flush(&mut self, out: &mut Vec<Chunk>) {
        self.decided = true;
        out.append(&mut self.held);
    }

    fn decide(&mut self, chunk: Chunk, out: &mut Vec<Chunk>) -> Option<Found> {
        self.flush(out);
        out.push(chunk);
        None
    }
    fn found(&self, finish: &Finish, tools: &[ToolSpec]) -> Option<(u32, Found)> {
        let (index, text) = self.candidate.as_ref()?;
        if finish.reason != FinishReason::Stop {
            return None;
        }
        let call = read_call(text).filter(|call| tools.iter().any(|tool| tool.name == call.name))?;
        let id = format!("text_{}", MessageId::generate());
        Some((*index, Found { id, call, text: text.clone() }))
    }
}
