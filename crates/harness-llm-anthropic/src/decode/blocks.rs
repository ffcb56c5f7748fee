//! Content blocks put together from fragments.
use harness_llm::{Block, BlockKind, Chunk, Request};
use harness_llm_http::unused_call_id;
use serde_json::{Value, json};

use super::wire::{ContentBlock, Delta};

/// The blocks of one response, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    slots: Vec<Slot>,
    /// How many of them are blocks of ours.
    shown: u32,
}

#[derive(Debug)]
struct Slot {
    /// The number on the wire, if it has one.
    number: Option<u64>,
    kind: Kind,
    /// The block's index; `None` for a type that is passed over.
    index: Option<u32>,
    is_open: bool,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking { text: String, signature: String, redacted: Option<String> },
    Call { id: String, input: String, is_streamed: bool },
    Unknown,
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.shown == 0
    }

    pub(super) fn has_calls(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.kind, Kind::Call { .. }))
    }

    /// A block begins. `false` for a call without a name, which cannot be made.
    pub(super) fn start(
        &mut self,
        number: Option<u64>,
        block: &ContentBlock<'_>,
        request: &Request,
        out: &mut Vec<Chunk>,
    ) -> bool {
        let kind = match &*block.r#type {
            "text" => Kind::Text,
            "thinking" => Kind::Thinking {
                text: String::new(),
                signature: (*block.signature).to_owned(),
                redacted: None,
            },
            "redacted_thinking" => Kind::Thinking {
                text: String::new(),
                signature: String::new(),
                redacted: Some((*block.data).to_owned()),
            },
            "tool_use" if block.name.is_empty() => return false,
            "tool_use" => {
                let earlier = self.slots.iter().filter_map(|slot| match &slot.kind {
                    Kind::Call { id, .. } => Some(id.as_str()),
                    _ => None,
                });
                let id = unused_call_id(&block.id, request, earlier);
                let input = block.input.map_or("{}", |input| input.get()).to_owned();
                Kind::Call { id, input, is_streamed: false }
            }
            _ => Kind::Unknown,
        };
        let shown = match &kind {
            Kind::Text => Some(BlockKind::Text),
            Kind::Thinking { .. } => Some(BlockKind::Reasoning),
            Kind::Call { id, .. } => {
                Some(BlockKind::ToolCall { id: id.clone(), name: (*block.name).to_owned() })
            }
            Kind::Unknown => None,
        };
        let index = shown.map(|kind| {
            let index = self.shown;
            self.shown += 1;
            out.push(Chunk::BlockStart { index, kind });
            index
        });
        let mut slot = Slot { number, kind, index, is_open: true };
        slot.push_text(&block.text, out);
        slot.push_thinking(&block.thinking, out);
        self.slots.push(slot);
        true
    }

    /// More of a block.
    pub(super) fn delta(&mut self, number: Option<u64>, delta: &Delta<'_>, out: &mut Vec<Chunk>) {
        let Some(slot) = self.find(number) else { return };
        match &*delta.r#type {
            "text_delta" => slot.push_text(&delta.text, out),
            "thinking_delta" => slot.push_thinking(&delta.thinking, out),
            "signature_delta" => {
                if let Kind::Thinking { signature, .. } = &mut slot.kind {
                    signature.push_str(&delta.signature);
                }
            }
            "input_json_delta" => {
                if let (Kind::Call { is_streamed, .. }, Some(index), false) =
                    (&mut slot.kind, slot.index, delta.partial_json.is_empty())
                {
                    *is_streamed = true;
                    out.push(Chunk::ToolCallDelta { index, arguments: (*delta.partial_json).to_owned() });
                }
            }
            _ => {}
        }
    }

    /// A block is whole.
    pub(super) fn stop(&mut self, number: Option<u64>, out: &mut Vec<Chunk>) {
        if let Some(slot) = self.find(number) {
            slot.end(true, out);
        }
    }

    /// Ends what is open still: all of it is whole unless the answer was `cut`.
    pub(super) fn end(&mut self, cut: bool, out: &mut Vec<Chunk>) {
        for slot in &mut self.slots {
            slot.end(!cut, out);
        }
    }

    /// The newest open block with the number; without a number the newest of all.
    fn find(&mut self, number: Option<u64>) -> Option<&mut Slot> {
        self.slots.iter_mut().rev().find(|slot| slot.is_open && (number.is_none() || slot.number == number))
    }
}

impl Slot {
    fn push_text(&mut self, piece: &str, out: &mut Vec<Chunk>) {
        if let (Kind::Text, Some(index), false) = (&self.kind, self.index, piece.is_empty()) {
            out.push(Chunk::TextDelta { index, text: piece.to_owned() });
        }
    }

    fn push_thinking(&mut self, piece: &str, out: &mut Vec<Chunk>) {
        if let (Kind::Thinking { text, .. }, Some(index), false) =
            (&mut self.kind, self.index, piece.is_empty())
        {
            text.push_str(piece);
            out.push(Chunk::ReasoningDelta { index, text: piece.to_owned() });
        }
    }

    fn end(&mut self, is_whole: bool, out: &mut Vec<Chunk>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let Some(index) = self.index else { return };
        let block = match &mut self.kind {
            Kind::Thinking { text, signature, redacted } => {
                let replay = match redacted.take() {
                    Some(data) => Some(json!({ "redacted": data })),
                    None if signature.is_empty() => None,
                    None => Some(json!({ "signature": signature })),
                };
                replay.map(|replay: Value| Block::Reasoning {
                    text: std::mem::take(text),
                    replay: Some(replay),
                })
            }
            Kind::Call { input, is_streamed: false, .. } if is_whole => {
                // Without pieces the arguments are those of the start: `{}`, most of the time.
                out.push(Chunk::ToolCallDelta { index, arguments: std::mem::take(input) });
                None
            }
            _ => None,
        };
        out.push(Chunk::BlockEnd { index, block });
    }
}
