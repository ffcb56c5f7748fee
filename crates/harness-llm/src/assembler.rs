//! Chunks to blocks: the one algorithm that live runs, loads and replays share.
use std::collections::BTreeMap;

use crate::block::{Block, BlockKind, ToolCallBlock};
use crate::chunk::{Chunk, Finish, FinishReason, Usage};
use crate::failure::{Failure, FailureCode};

#[derive(Debug, Clone)]
struct Slot {
    block: Block,
    closed: bool,
}

/// Collects the chunks of one attempt.
#[derive(Debug, Clone, Default)]
pub struct Assembler {
    slots: BTreeMap<u32, Slot>,
    usage: Option<Usage>,
    finish: Option<Finish>,
}

/// What one attempt added up to.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// Blocks in order of first appearance. After a cut at the output limit the tool calls are still here:
    /// the loop answers each with an error and runs none.
    pub content: Vec<Block>,
    /// Usage, if reported.
    pub usage: Option<Usage>,
    /// How the stream ended. A stream that never finished is an error here, never a stop.
    pub finish: Finish,
}

impl Assembler {
    /// Takes the next chunk. Deltas without an open block are dropped: the checker has already refused them.
    pub fn push(&mut self, chunk: &Chunk) {
        match chunk {
            Chunk::BlockStart { index, kind } => {
                let block = match kind {
                    BlockKind::Text => Block::text(String::new()),
                    BlockKind::Reasoning => Block::Reasoning { text: String::new(), replay: None },
                    BlockKind::ToolCall { id, name } => Block::ToolCall(ToolCallBlock {
                        id: id.clone(),
                        name: name.clone(),
                        arguments: String::new(),
                    }),
                    BlockKind::Other { .. } => return,
                };
                self.slots.entry(*index).or_insert(Slot { block, closed: false });
            }
            Chunk::TextDelta { index, text: piece } | Chunk::ReasoningDelta { index, text: piece } => {
                if let Some(Block::Text { text } | Block::Reasoning { text, .. }) = self.open(*index) {
                    text.push_str(piece);
                }
            }
            Chunk::ToolCallDelta { index, arguments } => {
                if let Some(Block::ToolCall(call)) = self.open(*index) {
                    call.arguments.push_str(arguments);
                }
            }
            Chunk::BlockEnd { index, block } => match (self.slots.get_mut(index), block) {
                (Some(slot), block) if !slot.closed => {
                    slot.closed = true;
                    if let Some(block) = block {
                        slot.block = block.clone();
                    }
                }
                (None, Some(block)) => {
                    self.slots.insert(*index, Slot { block: block.clone(), closed: true });
                }
                _ => {}
            },
            Chunk::Usage(usage) => self.usage = Some(*usage),
            Chunk::Finish(finish) => {
                self.finish.get_or_insert_with(|| finish.clone());
            }
        }
    }

    fn open(&mut self, index: u32) -> Option<&mut Block> {
        self.slots.get_mut(&index).filter(|slot| !slot.closed).map(|slot| &mut slot.block)
    }

    /// Usage so far.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// The visible prefix of an interrupted answer: text and reasoning with something in it, no tool calls.
    pub fn interrupted(&self) -> Vec<Block> {
        self.slots
            .values()
            .filter(|slot| match &slot.block {
                Block::Text { text } | Block::Reasoning { text, .. } => !text.trim().is_empty(),
                _ => false,
            })
            .map(|slot| slot.block.clone())
            .collect()
    }

    /// The blocks as they stand, empty text and reasoning dropped.
    pub fn content(&self) -> Vec<Block> {
        self.slots
            .values()
            .filter(|slot| match &slot.block {
                Block::Text { text } | Block::Reasoning { text, replay: None } => !text.is_empty(),
                _ => true,
            })
            .map(|slot| slot.block.clone())
            .collect()
    }

    /// The whole attempt.
    pub fn finish(self) -> Assembled {
        let content = self.content();
        let finish = self.finish.unwrap_or_else(|| {
            FinishReason::Error {
                failure: Failure::new(FailureCode::STREAM_CLOSED, "the model stream ended without a finish"),
            }
            .into()
        });
        Assembled { content, usage: self.usage, finish }
    }
}
