//! Output items put together from fragments.
use harness_llm::{Block, BlockKind, Chunk, Request, ToolCallBlock};
use harness_llm_http::unused_call_id;
use serde_json::{Map, Value};

use super::PARAGRAPH;
use super::wire::Item;

/// The items of one response that became blocks, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Blocks(Vec<Slot>);

/// What tells the pieces of items apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) item_id: &'a str,
    pub(super) output_index: Option<u64>,
}

#[derive(Debug)]
struct Slot {
    item_id: String,
    output_index: Option<u64>,
    kind: Kind,
    /// All that was streamed.
    streamed: String,
    /// The summary part that is being streamed.
    part: u64,
    /// Nothing more belongs to it.
    is_done: bool,
    /// The block where it is not what was streamed.
    whole: Option<Block>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Reasoning,
    Call { id: String, name: String },
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_calls(&self) -> bool {
        self.0.iter().any(|slot| matches!(slot.kind, Kind::Call { .. }))
    }

    /// More of an answer or of reasoning.
    pub(super) fn piece(&mut self, key: Key<'_>, kind: &Kind, part: u64, text: &str, out: &mut Vec<Chunk>) {
        if text.is_empty() {
            return;
        }
        let at = self.find(key, kind).unwrap_or_else(|| self.open(key, kind.clone(), out));
        let slot = &mut self.0[at];
        if part > slot.part {
            slot.part = part;
            if !slot.streamed.is_empty() {
                slot.push(at, PARAGRAPH, out);
            }
        }
        slot.push(at, text, out);
    }

    /// A call begins.
    pub(super) fn call(
        &mut self,
        key: Key<'_>,
        item: &Item,
        request: &Request,
        out: &mut Vec<Chunk>,
    ) -> usize {
        let earlier = self.0.iter().filter_map(|slot| match &slot.kind {
            Kind::Call { id, .. } => Some(id.as_str()),
            _ => None,
        });
        let id = unused_call_id(item.call_id.as_deref().unwrap_or_default(), request, earlier);
        let name = item.name.clone().unwrap_or_default();
        self.open(key, Kind::Call { id, name }, out)
    }

    /// More of a call's arguments.
    pub(super) fn arguments(&mut self, key: Key<'_>, piece: &str, out: &mut Vec<Chunk>) {
        if let (Some(at), false) = (self.find_call(key), piece.is_empty()) {
            self.0[at].push(at, piece, out);
        }
    }

    /// All of a call's arguments.
    pub(super) fn all_arguments(&mut self, at: usize, arguments: &str, out: &mut Vec<Chunk>) {
        let slot = &mut self.0[at];
        if let Some(rest) = arguments.strip_prefix(&*slot.streamed) {
            if !rest.is_empty() {
                let rest = rest.to_owned();
                slot.push(at, &rest, out);
            }
        } else if let Kind::Call { id, name } = &slot.kind
            && !arguments.is_empty()
        {
            let (id, name) = (id.clone(), name.clone());
            slot.whole = Some(Block::ToolCall(ToolCallBlock { id, name, arguments: arguments.to_owned() }));
        }
    }

    /// An item is done.
    pub(super) fn done(&mut self, key: Key<'_>, item: &Item, request: &Request, out: &mut Vec<Chunk>) {
        let at = match &*item.r#type {
            "message" => match self.find_any(key, &Kind::Text) {
                Some(at) => at,
                None if item.text().is_empty() => return,
                None => {
                    let at = self.open(key, Kind::Text, out);
                    self.0[at].push(at, &item.text(), out);
                    at
                }
            },
            "function_call" => {
                let at = self.find_call(key).unwrap_or_else(|| self.call(key, item, request, out));
                self.all_arguments(at, item.arguments.as_deref().unwrap_or_default(), out);
                at
            }
            "reasoning" => match self.reasoning_done(key, item, out) {
                Some(at) => at,
                None => return,
            },
            _ => return,
        };
        self.0[at].is_done = true;
    }

    /// Keeps what must go back to the model with its reasoning.
    fn reasoning_done(&mut self, key: Key<'_>, item: &Item, out: &mut Vec<Chunk>) -> Option<usize> {
        let replay = item.encrypted_content.as_ref().filter(|content| !content.is_empty()).map(|content| {
            let mut kept = Map::new();
            kept.extend(item.id.clone().map(|id| ("id".to_owned(), Value::from(id))));
            let parts: Vec<_> =
                item.summary.iter().flatten().filter_map(|part| part.text.as_deref()).collect();
            if parts.len() > 1 {
                let part = |text: &&str| serde_json::json!({ "type": "summary_text", "text": text });
                kept.insert("summary".into(), parts.iter().map(part).collect());
            }
            kept.insert("encrypted_content".into(), content.as_str().into());
            Value::Object(kept)
        });
        let found = self.find_any(key, &Kind::Reasoning);
        if found.is_none() && replay.is_none() && item.text().is_empty() {
            return None;
        }
        let at = found.unwrap_or_else(|| self.open(key, Kind::Reasoning, out));
        let slot = &mut self.0[at];
        if slot.streamed.is_empty() && !item.text().is_empty() {
            slot.push(at, &item.text(), out);
        }
        if replay.is_some() {
            slot.whole = Some(Block::Reasoning { text: slot.streamed.clone(), replay });
        }
        Some(at)
    }

    /// Ends all blocks.
    pub(super) fn end(&mut self, out: &mut Vec<Chunk>) {
        let ends = self.0.drain(..).enumerate();
        out.extend(ends.map(|(at, slot)| Chunk::BlockEnd { index: index(at), block: slot.whole }));
    }

    /// A call without a name cannot be made.
    pub(super) fn has_nameless(&self) -> bool {
        self.0.iter().any(|slot| matches!(&slot.kind, Kind::Call { name, .. } if name.is_empty()))
    }

    fn open(&mut self, key: Key<'_>, kind: Kind, out: &mut Vec<Chunk>) -> usize {
        let at = self.0.len();
        let shown = match &kind {
            Kind::Text => BlockKind::Text,
            Kind::Reasoning => BlockKind::Reasoning,
            Kind::Call { id, name } => BlockKind::ToolCall { id: id.clone(), name: name.clone() },
        };
        out.push(Chunk::BlockStart { index: index(at), kind: shown });
        self.0.push(Slot {
            item_id: key.item_id.to_owned(),
            output_index: key.output_index,
            kind,
            streamed: String::new(),
            part: 0,
            is_done: false,
            whole: None,
        });
        at
    }

    /// The open block of a kind that a piece belongs to.
    fn find(&self, key: Key<'_>, kind: &Kind) -> Option<usize> {
        self.find_any(key, kind).filter(|at| !self.0[*at].is_done)
    }

    fn find_any(&self, key: Key<'_>, kind: &Kind) -> Option<usize> {
        self.position(key, |slot| slot.kind == *kind)
    }

    fn find_call(&self, key: Key<'_>) -> Option<usize> {
        self.position(key, |slot| matches!(slot.kind, Kind::Call { .. }) && !slot.is_done)
    }

    /// The item's id decides where there is one, else its number, else the newest item goes on.
    fn position(&self, key: Key<'_>, fits: impl Fn(&Slot) -> bool) -> Option<usize> {
        let by_id = |slot: &Slot| !key.item_id.is_empty() && slot.item_id == key.item_id;
        if let Some(at) = self.0.iter().rposition(|slot| by_id(slot) && fits(slot)) {
            return Some(at);
        }
        let is_other = |slot: &Slot| !key.item_id.is_empty() && !slot.item_id.is_empty();
        if key.output_index.is_some() {
            let by_number = |slot: &Slot| slot.output_index == key.output_index && !is_other(slot);
            return self.0.iter().rposition(|slot| by_number(slot) && fits(slot));
        }
        let at = self.0.len().checked_sub(1)?;
        (fits(&self.0[at]) && !is_other(&self.0[at]) && !self.0[at].is_done).then_some(at)
    }
}

impl Slot {
    fn push(&mut self, at: usize, text: &str, out: &mut Vec<Chunk>) {
        self.streamed.push_str(text);
        let (index, text) = (index(at), text.to_owned());
        out.push(match self.kind {
            Kind::Text => Chunk::TextDelta { index, text },
            Kind::Reasoning => Chunk::ReasoningDelta { index, text },
            Kind::Call { .. } => Chunk::ToolCallDelta { index, arguments: text },
        });
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
